-- 0001: invoices and their lines. Applied in production on 2023-02-11. Never edit.
CREATE TABLE invoice (
    number      TEXT PRIMARY KEY,
    customer    TEXT NOT NULL,
    issued_on   TEXT NOT NULL,
    currency    TEXT NOT NULL CHECK (length(currency) = 3)
);

CREATE TABLE line (
    invoice     TEXT NOT NULL REFERENCES invoice (number),
    position    INTEGER NOT NULL,
    description TEXT NOT NULL,
    quantity    TEXT NOT NULL,
    tax_code    TEXT NOT NULL,
    PRIMARY KEY (invoice, position)
);
