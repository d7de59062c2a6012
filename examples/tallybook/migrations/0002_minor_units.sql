-- 0002: amounts become whole minor units. Applied in production on 2024-03-02. Never edit.
-- minor_units is the number of decimals that price_minor was stored with. Rows that are older
-- than this migration were stored with two, whatever their currency.
ALTER TABLE line ADD COLUMN price_minor INTEGER NOT NULL DEFAULT 0;
ALTER TABLE line ADD COLUMN minor_units INTEGER NOT NULL DEFAULT 2;
