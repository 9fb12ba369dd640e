"""Asks Karpenter's own scheduler about generated cases and keeps its answers:

    python3 test/parity/scheduling/collect.py ORACLE CHECKER

ORACLE is a program that links sigs.k8s.io/karpenter v1.14.1: `ORACLE fuzz -seed N -size S` writes a case and
`ORACLE schedule -in CASE -out ANSWER -repeat 5` answers it five times. CHECKER is the folder of an independent checker of
plans, which says whether Karpenter's plan breaks a rule and whether something in the case is used up (then another set of
pods can be as right). Overlay weights are made distinct, because equal ones are decided otherwise on purpose. Kept: whole
cases of which Karpenter's plan is valid, its cheapest price over the runs, and the pods that it places.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

oracle, checker = sys.argv[1:3]
sys.path.insert(0, checker)
import check_plan  # noqa: E402
import fairness  # noqa: E402
import model  # noqa: E402

WANTED = {"small": 40, "medium": 24, "large": 6}
kept = []
folder = tempfile.mkdtemp()
for size, count in WANTED.items():
    seed = found = 0
    while found < count:
        seed += 1
        case = json.loads(subprocess.run([oracle, "fuzz", "-seed", str(seed), "-size", size], capture_output=True, check=True).stdout)
        for i, overlay in enumerate(case.get("nodeOverlays") or []):
            overlay["spec"]["weight"] = (overlay["spec"].get("weight") or 0) * 20 + i + 1
        path, answer = os.path.join(folder, "case.json"), os.path.join(folder, "answer.json")
        json.dump(case, open(path, "w"))
        subprocess.run([oracle, "schedule", "-in", path, "-out", answer, "-repeat", "5"], capture_output=True, check=True)
        karpenter = json.load(open(answer))
        judged = check_plan.Checker(model.Case(path), karpenter).run()
        if judged.violations:
            continue
        found += 1
        kept.append({
            "name": f"{size}-{seed}",
            "problem": case,
            "placed": sorted(fairness.placed(karpenter)),
            "price": fairness.lowest_price(judged),
            "contended": bool(fairness.contended(model.Case(path), judged)),
        })
file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.json.gz")
with open(file, "wb") as out:
    out.write(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), 9, mtime=0))
print(len(kept), "cases in", file)
