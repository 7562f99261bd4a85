"""Systems built by calls."""

from __future__ import annotations

from .model import Model

Number = float | str  # a number, or a formula


def _vector(parts: tuple[Number, ...]) -> str:
    return "(" + ", ".join(str(part) for part in parts) + ")"


class System:
    """A system that is built by calls instead of the text of a .zw file; every call returns the System.

    Formulas can be given in place of numbers. `line` adds any statement of the language; `text` is the text so far, `model()` compiles it.

        >>> import zwang
        >>> pendulum = zwang.System().param(g=9.81, l=2).coord(x="l", y=0).mass(1, "x", "y").gravity(0, "-g")
        >>> model = pendulum.constraint("rod", "|(x, y)| = l").event("bottom", "x = 0", stop=True).model()
        >>> run = model.run(5)
        >>> round(-run["lambda(rod)"][-1] / 9.81, 6)
        3.0
        >>> chain = zwang.System().coord(**{f"x{i}": i for i in range(3)})
        >>> for i in range(3):
        ...     _ = chain.mass(1, f"x{i}").force(f"x{i}", f"-x{i}")
        >>> len(chain.model().coords)
        3
    """

    def __init__(self) -> None:
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line in self._lines)

    def line(self, statement: str) -> "System":
        """Any statement of the language."""
        if "\n" in statement.strip():
            raise ValueError("one statement at a time")
        self._lines.append(statement.strip())
        return self

    def _each(self, word: str, values: dict[str, Number], mark: str = "") -> "System":
        for name, value in values.items():
            self.line(f"{word} {name}{mark} = {value}")
        return self

    def param(self, **values: Number) -> "System":
        """Parameters and their values."""
        return self._each("param", values)

    def coord(self, **starts: Number) -> "System":
        """Coordinates and their initial values."""
        return self._each("coord", starts)

    def speed(self, **starts: Number) -> "System":
        """Initial speeds of coordinates: speed(x=2) is x' = 2."""
        return self._each("speed", starts, "'")

    def let(self, **formulas: Number) -> "System":
        return self._each("let", formulas)

    def mass(self, mass: Number, *at: Number) -> "System":
        """A point mass at a point: mass(2, "x", "y")."""
        return self.line(f"mass {mass} at {_vector(at)}")

    def gravity(self, *acceleration: Number) -> "System":
        return self.line(f"gravity {_vector(acceleration)}")

    def kinetic(self, energy: Number) -> "System":
        return self.line(f"kinetic {energy}")

    def potential(self, energy: Number) -> "System":
        return self.line(f"potential {energy}")

    def force(self, coord: str, force: Number) -> "System":
        """A force along a coordinate."""
        return self.line(f"force {coord}: {force}")

    def constraint(self, name: str, equation: str) -> "System":
        """An equation, or an inequality `x >= 0`, with speeds or without."""
        return self.line(f"constraint {name}: {equation}")

    def event(self, name: str, equation: str, stop: bool = False) -> "System":
        return self.line(f"event {name}: {equation}{', stop' if stop else ''}")

    def model(self, **params: float) -> Model:
        """Compile it; mistakes raise zwang.Error with the line of `text`."""
        return Model((self.text, "system.zw", params, None, None, False, {}, None))
