#!/usr/bin/python3
"""An independent solver of the convex law: cvxopt solves the same problems from their text.

    compare_convex.py BUILD_FOLDER [COUNT [FIRST_SEED]]

Each problem of test/gauss/compare_convex.c is brought to the nearest-point form

    minimise 1/2 x'P x - g'x   subject to   G x + s = h,  s in (half-lines) x (second-order cones)

by LAPACK alone: a = W x with W from Cholesky of M (of its diagonal where M is singular), one unknown
sigma with unit mass for each compliant row (A a - b + sqrt(R) sigma), equality rows eliminated by
their singular values. Then coneqp finds the motion, conelp proves what is infeasible. Compared are

    the motion, in the metric's norm over the size of the problem, and the objective;
    zwang's multipliers: their cones, and M (a - a_free) - C = A' lambda;
    "the constraints contradict each other", said by both or by none, and that the blocks zwang names
    do so by themselves while none of them can be left out.

Where coneqp does not reach an accuracy worth comparing with, it says so and nothing is counted.
"""

import math
import subprocess
import sys

try:
    from cvxopt import blas, lapack, matrix, solvers
except ImportError:
    print("skipped: cvxopt is missing (Debian: python3-cvxopt)")
    sys.exit(77)

COUNT = 600
OK, CONFLICT = "ZW_OK", "ZW_CONFLICT"
WORTH = 1e-5                        # coneqp's own error bound above this: it could not
SURE, TIGHT = 1e-6, 1e-7            # allowed distance, floor of it
NO_ROOM, DUAL = 1e-9, 1e-8          # ranks and leftovers; zwang's own equations

solvers.options.update(show_progress=False, maxiters=60)


# ---- Reading -------------------------------------------------------------------------------------

class Problem:
    pass


def numbers(words, count):
    return [float(next(words)) for _ in range(count)]


def expect(words, *wanted):
    word = next(words)
    if word not in wanted:
        raise ValueError(f"'{word}' where one of {wanted} should be")
    return word


def read(words):
    """One problem with its answer, or None at the end."""
    if next(words, None) is None:
        return None
    p = Problem()
    p.name = next(words)
    p.n, p.m, blocks = (int(next(words)) for _ in range(3))
    next(words)
    expect(words, "metric")
    p.M = matrix(numbers(words, p.n * p.n), (p.n, p.n))
    p.has_force = expect(words, "free", "force") == "force"
    p.free = matrix(numbers(words, p.n), (p.n, 1))
    p.blocks = []
    for _ in range(blocks):
        expect(words, "block")
        kind, rows = next(words), int(next(words))
        p.blocks.append((kind, rows, [1.0] + numbers(words, 5)))
        next(words)
    expect(words, "A")
    p.A = matrix(numbers(words, p.m * p.n), (p.n, p.m)).T
    expect(words, "b")
    p.b = matrix(numbers(words, p.m), (p.m, 1))
    expect(words, "compliance")
    p.R = numbers(words, p.m)
    expect(words, "C")
    p.C = matrix(numbers(words, p.n), (p.n, 1))
    expect(words, "conflict")
    p.conflict = [int(next(words)) for _ in range(int(next(words)))]
    expect(words, "end")
    expect(words, "answer")
    p.status, p.method = next(words), next(words)
    more = expect(words, "a", "conflict", "done")
    if more == "conflict":
        p.named = [int(next(words)) for _ in range(int(next(words)))]
        expect(words, "done")
    if more == "a":
        p.a = matrix(numbers(words, p.n), (p.n, 1))
        expect(words, "lambda")
        p.lam = matrix(numbers(words, p.m), (p.m, 1))
        expect(words, "done")
    return p


# ---- Algebra -------------------------------------------------------------------------------------

def zeros(rows, columns):
    return matrix(0.0, (rows, columns))


def norm(x):
    return blas.nrm2(x) if len(x) else 0.0


def size(x):
    return max((abs(v) for v in x), default=0.0)


def svd(E):
    """E = U diag(S) Vt, full U and Vt."""
    rows, columns = E.size
    U, Vt, S = zeros(rows, rows), zeros(columns, columns), zeros(min(rows, columns), 1)
    lapack.gesvd(+E, S, jobu="A", jobvt="A", U=U, Vt=Vt)
    return U, S, Vt


def root(M):
    """W with a = W x: L'^-1 where M = L L', else units that make the diagonal 1."""
    n = M.size[0]
    unit = [math.sqrt(M[i, i]) if M[i, i] > 0 else 1.0 for i in range(n)]
    scaled = matrix([M[i, j] / unit[i] / unit[j] for j in range(n) for i in range(n)], (n, n))
    W = zeros(n, n)
    W[::n + 1] = 1.0
    try:
        lapack.potrf(scaled)
        if min(scaled[::n + 1]) > 1e-6:
            blas.trsm(scaled, W, transA="T")
    except ArithmeticError:
        pass
    for i in range(n):
        W[i, :] /= unit[i]
    return W


def raise_problem(p):
    """p.P, p.g over z = (x, sigma); equality rows p.E z = p.e; others p.G z + s = p.h."""
    n, soft = p.n, [i for i in range(p.m) if p.R[i] > 0]
    p.W = root(p.M)
    k = n + len(soft)
    p.P = zeros(k, k)
    p.P[:n, :n] = p.W.T * p.M * p.W
    for i in range(n, k):
        p.P[i, i] = 1.0
    p.g = zeros(k, 1)
    p.g[:n] = p.W.T * ((p.free if p.has_force else p.M * p.free) + p.C)
    full = zeros(p.m, k)
    full[:, :n] = p.A * p.W
    for j, i in enumerate(soft):
        full[i, n + j] = math.sqrt(p.R[i])

    equal, lines, cones, at = [], [], [], 0
    for kind, rows, mu in p.blocks:
        mine = list(range(at, at + rows))
        at += rows
        if kind == "equality":
            equal += [(1.0 / (norm(full[i, :]) or 1.0), [i], [1.0]) for i in mine]
        elif kind == "inequality":
            lines += [(1.0 / (norm(full[i, :]) or 1.0), [i], [1.0]) for i in mine]
        else:
            rough = [(i, mu[j]) for j, i in enumerate(mine) if mu[j] > 0]
            length = max(f * norm(full[i, :]) for i, f in rough) or 1.0
            block = (1.0 / length, [i for i, _ in rough], [f for _, f in rough])
            (lines if len(rough) == 1 else cones).append(block)

    def stack(blocks, sign):
        chosen = [(i, sign * f * scale) for scale, rows, factors in blocks
                  for i, f in zip(rows, factors)]
        G, h = zeros(len(chosen), k), zeros(len(chosen), 1)
        for row, (i, f) in enumerate(chosen):
            G[row, :] = f * full[i, :]
            h[row] = f * p.b[i]
        return G, h

    p.E, p.e = stack(equal, 1.0)
    p.G, p.h = stack(lines + cones, -1.0)
    p.dims = {"l": len(lines), "q": [len(rows) for _, rows, _ in cones], "s": []}


def eliminate(p):
    """z = z0 + N t. Returns 0 when the equalities contradict each other."""
    k = p.P.size[0]
    p.z0, p.N = zeros(k, 1), zeros(k, k)
    p.N[::k + 1] = 1.0
    if p.E.size[0]:
        U, S, Vt = svd(p.E)
        rank = sum(1 for s in S if s > NO_ROOM * S[0])
        c = U.T * p.e
        for i in range(rank):
            p.z0 += Vt[i, :].T * (c[i] / S[i])
        if norm(p.E * p.z0 - p.e) > 1e-8 * (norm(p.e) + norm(p.z0)):
            return 0
        p.N = Vt[rank:, :].T
    return 1


# ---- Solving -------------------------------------------------------------------------------------

def reduced(p):
    """P, g, G, h, dims over t; rows that t cannot move are checked and left out."""
    P, g = p.N.T * p.P * p.N, p.N.T * (p.g - p.P * p.z0)
    G, h = p.G * p.N, p.h - p.G * p.z0
    scale = max(norm(p.g), size(p.h), norm(p.z0)) or 1.0
    keep, dims, possible, at = [], {"l": 0, "q": [], "s": []}, True, 0
    for d in [1] * p.dims["l"] + p.dims["q"]:
        rows = list(range(at, at + d))
        at += d
        if size(G[rows, :]) < NO_ROOM:
            possible = possible and h[rows[0]] - norm(h[rows[1:]]) >= -1e-8 * scale
        else:
            keep += rows
            if d == 1:
                dims["l"] += 1
            else:
                dims["q"].append(d)
    return P, g / scale, G[keep, :], h[keep] / scale, dims, possible, scale


def infeasible(G, h, dims):
    """1: proved, 0: there is a point, None: conelp does not know."""
    if not G.size[0]:
        return 0
    if not G.size[1]:
        return None
    _, S, Vt = svd(G)
    rank = sum(1 for s in S if s > NO_ROOM * S[0])
    try:
        answer = solvers.conelp(zeros(rank, 1), G * Vt[:rank, :].T, h, dims)["status"]
    except (ArithmeticError, ValueError):
        return None
    return {"primal infeasible": 1, "optimal": 0}.get(answer)


def attempts(P, g, G, h, dims):
    """The best that coneqp reaches: (point, bound of its error), the sharpest tolerances first.

    Strong convexity: |x - x*|_P^2 <= 2 gap, plus what infeasibility allows."""
    best = None
    for digits in (13, 12, 11, 10, 9):
        for kkt in ("ldl", "chol"):
            options = dict(solvers.options, abstol=10.0 ** -digits, reltol=10.0 ** -digits,
                           feastol=10.0 ** -digits)
            try:
                sol = solvers.coneqp(P, -g, G, h, dims, kktsolver=kkt, options=options)
            except (ArithmeticError, ValueError):
                continue
            missing = max(sol["primal infeasibility"] or 0, sol["dual infeasibility"] or 0)
            bound = math.sqrt(2 * abs(sol["gap"])) + 10 * missing
            if sol["status"] == "optimal" and (best is None or bound < best[1]):
                best = sol["x"], bound
        if best is not None:
            break
    return best


def solve(p):
    """("infeasible" | "unknown" | "solved", motion, objective, bound of its relative error)."""
    raise_problem(p)
    if not eliminate(p):
        return "infeasible", None, 0, 0
    P, g, G, h, dims, possible, scale = reduced(p)
    if not possible:
        return "infeasible", None, 0, 0
    if p.conflict or p.status == CONFLICT:
        proof = infeasible(G, h, dims)
        if proof or proof is None:
            return ("infeasible" if proof else "unknown"), None, 0, 0
    if P.size[0] == 0:
        t, bound = zeros(0, 1), 0.0
    else:
        best = attempts(P, g, G, h, dims)
        if best is None:
            return "unknown", None, 0, 0
        t, bound = best[0] * scale, best[1]
    z = p.z0 + p.N * t
    objective = (0.5 * blas.dot(z, p.P * z) - blas.dot(p.g, z)) / scale ** 2
    p.scale = scale
    return "solved", p.W * z[:p.n], objective, bound


# ---- Comparing -----------------------------------------------------------------------------------

def metric_norm(p, x):
    return math.sqrt(max(blas.dot(x, p.M * x), 0.0))


def multipliers(p):
    """How far zwang's multipliers are from their cones and from the equation of motion: forces in
    units of x, those of a row times its length, over the size of the problem."""
    force = p.M * p.a - (p.free if p.has_force else p.M * p.free) - p.C - p.A.T * p.lam
    worst, at = norm(p.W.T * force) / p.scale, 0
    for kind, rows, mu in p.blocks:
        mine = range(at, at + rows)
        length = max((norm(p.W.T * p.A[i, :].T) for i in mine), default=0.0)
        r = [p.lam[i] * length / p.scale for i in mine]
        at += rows
        if kind == "inequality":
            worst = max([worst] + [-v for v in r])
        if kind == "cone":
            slide = math.sqrt(sum((v / f) ** 2 for v, f in zip(r[1:], mu[1:]) if f > 0))
            idle = sum(abs(v) for v, f in zip(r[1:], mu[1:]) if f <= 0)
            worst = max(worst, slide - r[0], idle)
    return worst


def contradictory(p, chosen):
    """Do these blocks alone contradict each other? 1, 0, or None."""
    q, at, rows = Problem(), 0, []
    q.n, q.M, q.free, q.has_force, q.C = p.n, p.M, p.free, p.has_force, p.C
    q.blocks = [p.blocks[k] for k in sorted(chosen)]
    for k, (_, count, _) in enumerate(p.blocks):
        rows += range(at, at + count) if k in chosen else []
        at += count
    q.m, q.A, q.b, q.R = len(rows), p.A[rows, :], p.b[rows], [p.R[i] for i in rows]
    raise_problem(q)
    if not eliminate(q):
        return 1
    _, _, G, h, dims, possible, _ = reduced(q)
    return infeasible(G, h, dims) if possible else 1


def named_conflict(p, tally):
    """What is wrong with the blocks that zwang blames."""
    if not p.named:
        return "no conflict is named"
    alone = contradictory(p, p.named)
    fewer = [contradictory(p, [k for k in p.named if k != left]) for left in p.named]
    if alone == 0:
        return f"blocks {p.named} do not contradict each other"
    if 1 in fewer:
        return f"of {p.named}, {p.named[fewer.index(1)]} could be left out"
    tally["proved"] += alone == 1 and None not in fewer
    return ""


def own_objective(p):
    """Of zwang's motion, with the energy of its compliances."""
    linear = (p.free if p.has_force else p.M * p.free) + p.C
    soft = sum(R * v * v for R, v in zip(p.R, p.lam))
    return (0.5 * blas.dot(p.a, p.M * p.a) - blas.dot(linear, p.a) + 0.5 * soft) / p.scale ** 2


def compare(p, tally):
    """An empty text if zwang is right, else what is wrong."""
    verdict, a, objective, bound = solve(p)
    if verdict == "infeasible":
        if p.status != CONFLICT:
            return f"infeasible, but zwang says {p.status}"
        tally["infeasible"] += 1
        return named_conflict(p, tally)
    if verdict == "unknown" or bound > WORTH:
        tally["unable"].append(p.name)
        return None
    if p.status != OK:
        return f"coneqp solves it, but zwang says {p.status}"
    distance = metric_norm(p, p.a - a) / p.scale
    allowed = min(SURE + bound, max(TIGHT, 3 * bound))
    tally["compared"] += 1
    tally["tight"] += allowed <= 2e-7
    tally["distance"].append(distance)
    difference = own_objective(p) - objective
    if not distance <= allowed:
        return f"motions differ by {distance:.1e}, allowed {allowed:.1e}"
    if not abs(difference) <= 10 * allowed ** 2 + 1e-9:
        return f"objectives differ by {difference:.1e}"
    off = multipliers(p)
    return "" if off <= DUAL else f"multipliers are off by {off:.1e}"


def main(arguments):
    count = arguments[1] if len(arguments) > 1 else str(COUNT)
    program = [arguments[0] + "/test/gauss/compare_convex", count] + arguments[2:3]
    text = subprocess.run(program, stdout=subprocess.PIPE, check=True, text=True).stdout
    words = iter(text.split())
    tally = {"compared": 0, "tight": 0, "infeasible": 0, "proved": 0, "unable": [], "distance": []}
    passed = failed = 0
    while True:
        p = read(words)
        if p is None:
            break
        wrong = compare(p, tally)
        if wrong:
            print(f"{p.name} ({p.n} unknowns, {p.m} rows, {p.method}): {wrong}")
            failed += 1
        elif wrong == "":
            passed += 1
    far = sorted(tally["distance"]) or [0.0]
    print(f"cvxopt: {tally['compared']} motions compared, {tally['tight']} of them to 2e-7 or "
          f"better; distance median {far[len(far) // 2]:.1e}, most {far[-1]:.1e}")
    print(f"both call infeasible: {tally['infeasible']}; the named blocks are a smallest "
          f"conflict in {tally['proved']} of them, the others cvxopt cannot tell")
    print(f"coneqp could not: {len(tally['unable'])} " + " ".join(tally["unable"][:10]))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < 0.8 * int(count) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
