"""A motion as a layer of PyTorch: gradients through zwang are those of the motion itself, not of differences.

`Motion` is a torch.autograd.Function: forward runs the equations, backward multiplies with the exact derivatives that `sim.sensitivity` has carried
along. Here Adam finds the length and the friction of a pendulum from a recording. Debian: apt install python3-torch.
"""

import sys

import numpy as np

import zwang

try:
    import torch
except ImportError:
    print("skipped: PyTorch is missing (Debian: python3-torch)")
    sys.exit(77)

PENDULUM = """
param l = 1, c = 0.1, g = 9.81
coord a = 1.2
mass 1 at (l*sin(a), -l*cos(a))
gravity (0, -g)
force a: -c*a'
"""


class Motion(torch.autograd.Function):
    """q [times, n] of a model whose parameters `names` have these values [names]."""

    @staticmethod
    def forward(ctx, values, model, names, times):
        sim = model.with_params(**dict(zip(names, values.tolist()))).sim()
        motion = sim.sensitivity(names, times)
        ctx.save_for_backward(torch.from_numpy(motion.q_by.copy()))
        return torch.from_numpy(motion.q.copy())

    @staticmethod
    def backward(ctx, slope):
        (by,) = ctx.saved_tensors  # [times, n, names]
        return torch.einsum("tn,tnp->p", slope, by), None, None, None


def main():
    model, names, times = zwang.parse(PENDULUM), ("l", "c"), np.linspace(0.1, 4, 40)
    truth = torch.tensor([0.8, 0.25], dtype=torch.float64)
    recording = Motion.apply(truth, model, names, times)

    start = torch.tensor([1.0, 0.1], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: Motion.apply(x, model, names, times), (start,), eps=1e-6, atol=1e-5)

    values = start.detach().clone().requires_grad_()
    optimiser = torch.optim.Adam([values], lr=0.02)
    for k in range(200):
        optimiser.zero_grad()
        loss = ((Motion.apply(values, model, names, times) - recording) ** 2).mean()
        loss.backward()
        optimiser.step()
        if k % 50 == 0:
            print(f"{k:4} loss {loss.item():.2e}, l = {values[0].item():.4f}, c = {values[1].item():.4f}")
    print(f"found l = {values[0].item():.4f} and c = {values[1].item():.4f}; the recording had 0.8 and 0.25")
    assert torch.allclose(values, truth, atol=1e-2)


if __name__ == "__main__":
    main()
