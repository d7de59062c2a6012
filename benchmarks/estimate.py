"""How far the estimate is from the exact count, kind of text by kind of text.

Prints the table of docs/counting.md: for each kind how many times the exact o200k count the
estimate is, its margin of a tenth included. Run it with

    python benchmarks/estimate.py [recorded conversation …]

Conversations that are named are measured too, each as a whole history.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import sys
import uuid
from pathlib import Path
from random import Random

from unremember import Weigher, read
from unremember.tokens import estimate_counter, exact_counter

ROOT = Path(__file__).parents[1]
SAMPLES = 40
"""Lines of each generated text."""

PROSE = {
    "English prose": "When the window is full, something has to go. Old steps shrink by degrees, "
    "and what was asked for stays word for word. Nothing that left is lost.",
    "German prose": "Wenn das Fenster voll ist, muss etwas gehen. Alte Schritte schrumpfen nach "
    "und nach, und der Auftrag bleibt Wort für Wort erhalten. Verloren geht nichts davon.",
    "Russian prose": "Когда окно заполнено, что-то должно уйти. Старые шаги сжимаются "
    "постепенно, а слова пользователя остаются без изменений. Всё забытое можно вернуть.",
    "Chinese prose": "窗口装满之后，总要有东西离开。较早的步骤会逐级缩短，"
    "用户说过的话则原样保留。离开的内容并没有丢失，凭编号就能取回原文。",
    "Japanese prose": "ウィンドウがいっぱいになると、何かを手放さなければなりません。"
    "古い手順は少しずつ短くなり、利用者の言葉はそのまま残ります。",
    "Korean prose": "창이 가득 차면 무언가는 나가야 합니다. 오래된 단계는 조금씩 짧아지고, "
    "사용자가 한 말은 그대로 남습니다. 나간 내용도 번호로 다시 불러올 수 있습니다.",
    "Arabic prose": "عندما تمتلئ النافذة لا بد أن يخرج شيء منها. تقصر الخطوات القديمة شيئا "
    "فشيئا، ويبقى كلام المستخدم كما قاله، ولا يضيع ما خرج بل يعود برقمه.",
    "Hindi prose": "जब जगह भर जाती है तो कुछ हटाना पड़ता है। पुराने चरण धीरे धीरे छोटे होते हैं और "
    "उपयोगकर्ता के शब्द वैसे ही रहते हैं। जो हटा वह अपने नाम से वापस आता है।",
}


def rows(rng: Random) -> list[dict[str, object]]:
    """Invented records, to be written in several forms."""
    return [
        {
            "id": str(uuid.UUID(int=rng.getrandbits(128))),
            "order": f"R-{rng.randrange(10_000):05d}",
            "total": round(rng.uniform(1, 5_000), 2),
            "paid": rng.random() < 0.5,
            "tags": rng.sample(["export", "retail", "yearly", "reduced_rate"], 2),
        }
        for _ in range(SAMPLES)
    ]


def as_csv(records: list[dict[str, object]]) -> str:
    """The records as comma-separated values."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(records[0]))
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def log(rng: Random) -> str:
    """A log with times, levels and numbers."""
    return "\n".join(
        f"2025-03-04 09:{n % 60:02d}:{rng.randrange(60):02d},{rng.randrange(1000):03d} "
        f"{rng.choice(('INFO', 'WARNING', 'ERROR'))} app.worker-{rng.randrange(8)} "
        f"request /api/orders/{rng.randrange(99_999)} took {rng.uniform(0, 900):.1f} ms"
        for n in range(SAMPLES)
    )


def minified(code: str) -> str:
    """Source as a minifier leaves it: no comments worth the name, hardly a blank."""
    return ";".join(" ".join(line.split()) for line in code.splitlines()).replace(" ", "")


def kinds() -> dict[str, str]:
    """A text for each kind, by name."""
    rng = Random(7)
    code = (ROOT / "src/unremember/history.py").read_text(encoding="utf-8")
    records = rows(rng)
    raw = rng.randbytes(3_000)
    return {
        **PROSE,
        "Markdown": (ROOT / "docs/design.md").read_text(encoding="utf-8"),
        "Python code": code,
        "code without blanks": minified(code),
        "JSON, indented": json.dumps(records, indent=2),
        "JSON, compact": json.dumps(records, separators=(",", ":")),
        "CSV": as_csv(records),
        "log": log(rng),
        "base64": base64.b64encode(raw).decode(),
        "hexadecimal": raw.hex(),
        "numbers": " ".join(str(rng.randrange(10**9)) for _ in range(400)),
        "blank lines and rulers": ("=" * 70 + "\n\n" + " " * 30 + "x\n") * SAMPLES,
        "emoji": "🎉🚀✅❌🔥👩‍💻👍🏽🇰🇷 " * SAMPLES,
    }


def put(line: str) -> None:
    """Prints a line."""
    sys.stdout.write(f"{line}\n")


def main() -> None:
    """Prints the table."""
    exact, estimate = Weigher(exact_counter()), Weigher(estimate_counter())
    put("| text | characters | estimate / exact |")
    put("| --- | ---: | ---: |")
    for name, text in kinds().items():
        true, guess = exact.text(text), estimate.text(text)
        put(f"| {name} | {len(text):,} | {guess / true:.2f} |")
    for path in map(Path, sys.argv[1:]):
        for found in read(path):
            true, guess = exact(found.history), estimate(found.history)
            put(f"| {path.name} | | {guess / true:.2f} |")


if __name__ == "__main__":
    main()
