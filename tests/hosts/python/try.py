"""Tries the component on the cases: `try.py COMPONENT QUESTIONS`."""

import base64
import json
import sys

from pdp import UNSIGNED, Code, Pdp, Refused, signed_by


def main(component, questions):
    code = Code(open(component, "rb").read())
    first, *cases = [json.loads(line) for line in open(questions, encoding="utf-8")]
    trusted, wrong = [signed_by(first[name]) for name in ("key", "wrong")]
    total = failed = 0
    for case in cases:
        bundle = base64.b64decode(case["bundle"])
        pdp = Pdp(code, bundle, trusted)
        time = case["seconds"], case["nanos"]
        for question in case["questions"]:
            right = pdp.decision_bytes(question["request"], *time) == question["decision"].encode()
            for request, allowed in question["actions"]:
                right &= pdp.is_allowed(request, *time) is allowed
            total += 1
            if not right:
                failed += 1
                print(f"  {case['name']}: answered otherwise than natively: {question['request']}")
    failed += refusals(code, base64.b64decode(cases[0]["bundle"]), trusted, wrong)
    print(f"python: {total - failed} passed, {failed} failed")
    return 1 if failed or not total else 0


def refusals(code, bundle, trusted, wrong):
    """Sends inputs that must be refused, and returns the number of wrong answers."""
    pdp = Pdp(code, bundle, trusted)
    asks = [
        ("unknown-signer", lambda: Pdp(code, bundle, wrong)),
        ("not-a-bundle", lambda: Pdp(code, b"", UNSIGNED)),
        ("wrong-digest", lambda: Pdp(code, bundle[:-1] + bytes([bundle[-1] ^ 1]), trusted)),
        ("old-revision", lambda: Pdp(code, bundle, trusted, min_revision=2)),
        ("not-a-bundle", lambda: pdp.reload(b"policies")),
        ("invalid-request", lambda: pdp.is_allowed("{}", 0)),
        ("invalid-time", lambda: pdp.is_allowed("{}", 1 << 60)),
        ("bad-request", lambda: pdp.authzen_evaluate("{}", 0)),
    ]
    return sum(refused_as(code, ask) for code, ask in asks)


def refused_as(code, ask):
    try:
        ask()
    except Refused as refusal:
        if refusal.code == code:
            return 0
        print(f"  refused as {refusal.code}, expected {code}")
        return 1
    print(f"  accepted, expected {code}")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
