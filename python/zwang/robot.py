"""Robots built by calls."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ET
from typing import Any, Iterable

import numpy as np

from .model import Model


def _value(value: Any) -> str:
    """The MJCF text of an attribute: numbers with all their digits, parts by their names."""
    if isinstance(value, _Part):
        return value.name
    if isinstance(value, str):
        if re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", value):
            raise ValueError(f"{value[:40]!r} has characters that XML cannot hold")
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Iterable):
        return " ".join(_value(part) for part in (value.ravel().tolist() if isinstance(value, np.ndarray) else value))
    return repr(value if isinstance(value, int) else float(value))


def _add(to: ET.Element, tag: str, name: str | None, attributes: dict[str, Any]) -> ET.Element:
    given = {"name": name, **attributes}
    return ET.SubElement(to, tag, {key.rstrip("_"): _value(value) for key, value in given.items() if value is not None})


class _Part:
    """A named element; it can be passed wherever its name is expected."""

    def __init__(self, element: ET.Element, kind: str) -> None:
        self._element, self._kind = element, kind

    @property
    def name(self) -> str:
        name = self._element.get("name", "world" if self._kind == "world" else None)
        if name is None:
            raise ValueError(f"a {self._kind} that is referred to needs a name")
        return name

    def __repr__(self) -> str:
        return f"<{self._kind} {self._element.get('name', '(no name)')}>"


class Body(_Part):
    """A body of a Robot, or its world: bodies, joints, shapes and sites are added to it."""

    def body(self, name: str | None = None, **attributes: Any) -> "Body":
        """A body that moves relative to this one by its joints; without any it is fixed to it."""
        return Body(_add(self._element, "body", name, attributes), "body")

    def _add(self, kind: str, name: str | None, attributes: dict[str, Any]) -> _Part:
        return _Part(_add(self._element, kind, name, attributes), kind)

    def joint(self, name: str | None = None, type: str = "hinge", **attributes: Any) -> _Part:
        """type: "hinge", "slide", "ball" or "free"; axis, range, damping, stiffness, armature, frictionloss ..."""
        return self._add("joint", name, {"type": type, **attributes})

    def geom(self, type: str, name: str | None = None, **attributes: Any) -> _Part:
        """A shape: "sphere", "capsule", "box", "cylinder", "ellipsoid", "plane", "mesh", "hfield"; size, pos, mass, friction ..."""
        return self._add("geom", name, {"type": type, **attributes})

    def site(self, name: str, **attributes: Any) -> _Part:
        """A point with axes, for sensors, tendons, motors and queries."""
        return self._add("site", name, attributes)

    def inertial(self, mass: float, pos: Any = (0, 0, 0), **attributes: Any) -> "Body":
        """Mass, centre of mass and moments of inertia (diaginertia or fullinertia), in place of those of the shapes."""
        _add(self._element, "inertial", None, {"mass": mass, "pos": pos, **attributes})
        return self


class Tendon(_Part):
    """The path of a tendon: joints with coefficients, or sites and geoms that it runs through and around."""

    def joint(self, joint: _Part | str, coef: float) -> "Tendon":
        _add(self._element, "joint", None, {"joint": joint, "coef": coef})
        return self

    def site(self, site: _Part | str) -> "Tendon":
        _add(self._element, "site", None, {"site": site})
        return self

    def geom(self, geom: _Part | str, sidesite: _Part | str | None = None) -> "Tendon":
        _add(self._element, "geom", None, {"geom": geom, "sidesite": sidesite})
        return self


_SECTIONS = ("compiler", "option", "default", "asset", "worldbody", "contact", "equality", "tendon", "actuator", "sensor", "keyframe")


class Robot:
    """A robot that is built by calls instead of an MJCF file.

    Attributes have the same names and meaning as in MJCF (docs/bodies.md); angles are in radians. Sequences and arrays become lists of
    numbers, and a part can be passed in place of its name. `text` is the MJCF text so far, `model()` compiles it.

        >>> import zwang
        >>> robot = zwang.Robot(timestep=0.002, gravity=(0, 0, -9.81))
        >>> upper = robot.world.body("upper", pos=(0, 0, 1))
        >>> shoulder = upper.joint("shoulder", axis=(0, 1, 0), damping=0.05)
        >>> _ = upper.geom("capsule", fromto=(0, 0, 0, 0, 0, -0.4), size=0.03, mass=1)
        >>> lower = upper.body("lower", pos=(0, 0, -0.4))
        >>> elbow = lower.joint("elbow", axis=(0, 1, 0), range=(-2, 2), damping=0.05)
        >>> _ = lower.geom("capsule", fromto=(0, 0, 0, 0, 0, -0.4), size=0.03, mass=0.5)
        >>> hand = lower.site("hand", pos=(0, 0, -0.4))
        >>> _ = robot.actuator("position", "servo", joint=elbow, kp=40, kv=4)
        >>> _ = robot.sensor("framepos", "where", objtype="site", objname=hand)
        >>> sim = robot.model().sim()
        >>> sim.ctrl[:] = 1
        >>> for _ in range(1000):
        ...     sim.step()
        >>> bool(abs(sim.q[1] - 1) < 0.1)
        True

    Loops are closed with `connect` and `weld`:

        >>> _ = robot.connect("loop", body1=lower, body2="world", anchor=(0, 0, -0.4))
        >>> robot.model().constraints[0]
        'loop'
    """

    def __init__(self, name: str = "robot", *, angle: str = "radian", **options: Any) -> None:
        self._root = ET.Element("mujoco", {"model": name})
        self._section = {tag: ET.SubElement(self._root, tag) for tag in _SECTIONS}
        self._section["compiler"].set("angle", angle)
        for key, value in options.items():
            if value is not None:
                self._section["option"].set(key, _value(value))
        self.world = Body(self._section["worldbody"], "world")

    @property
    def element(self) -> ET.Element:
        """The XML tree itself, for elements and attributes that have no method here."""
        return self._root

    @property
    def text(self) -> str:
        """The MJCF text."""
        root = copy.deepcopy(self._root)
        for section in list(root):
            if len(section) == 0 and not section.attrib:
                root.remove(section)
        ET.indent(root)
        return ET.tostring(root, encoding="unicode") + "\n"

    def _add(self, section: str, kind: str, name: str | None, attributes: dict[str, Any]) -> _Part:
        return _Part(_add(self._section[section], kind, name, attributes), kind)

    def default(self, kind: str, **attributes: Any) -> None:
        """Default attributes for parts of a kind ("geom", "joint", "motor" ...)."""
        _add(self._section["default"], kind, None, attributes)

    def mesh(self, name: str, *, vertex: Any = None, face: Any = None, file: str | None = None, **attributes: Any) -> _Part:
        """A mesh, from arrays or from a file; a geom of type "mesh" has mesh=name."""
        return self._add("asset", "mesh", name, {"vertex": vertex, "face": face, "file": file, **attributes})

    def actuator(self, kind: str, name: str | None = None, **attributes: Any) -> _Part:
        """kind: "motor", "position", "velocity", "general", "muscle", "cylinder", "damper"; with joint=, tendon= or site=."""
        return self._add("actuator", kind, name, attributes)

    def sensor(self, kind: str, name: str | None = None, **attributes: Any) -> _Part:
        """kind: "gyro", "accelerometer", "jointpos", "force", "touch", "framepos" ..."""
        return self._add("sensor", kind, name, attributes)

    def equality(self, kind: str, name: str | None = None, **attributes: Any) -> _Part:
        """kind: "connect", "weld", "joint" or "tendon"."""
        return self._add("equality", kind, name, attributes)

    def connect(self, name: str | None = None, **attributes: Any) -> _Part:
        """Two bodies share a point: body1, body2, anchor in the axes of body1; or site1, site2."""
        return self.equality("connect", name, **attributes)

    def weld(self, name: str | None = None, **attributes: Any) -> _Part:
        """Two bodies move as one: body1, body2."""
        return self.equality("weld", name, **attributes)

    def tendon(self, kind: str, name: str | None = None, **attributes: Any) -> Tendon:
        """kind: "fixed" (of joints) or "spatial" (of sites and geoms)."""
        return Tendon(_add(self._section["tendon"], kind, name, attributes), "tendon")

    def pair(self, geom1: _Part | str, geom2: _Part | str, name: str | None = None, **attributes: Any) -> _Part:
        """A contact pair of two geoms with its own friction and other attributes."""
        return self._add("contact", "pair", name, {"geom1": geom1, "geom2": geom2, **attributes})

    def exclude(self, body1: Body | str, body2: Body | str, name: str | None = None) -> _Part:
        """Two bodies do not collide."""
        return self._add("contact", "exclude", name, {"body1": body1, "body2": body2})

    def key(self, name: str, **attributes: Any) -> _Part:
        """A keyframe to start from: qpos, qvel, ctrl ..."""
        return self._add("keyframe", "key", name, attributes)

    def model(self, *, key: str | None = None, **params: float) -> Model:
        """Compile it; mistakes raise zwang.Error with the line of `text`."""
        return Model((self.text, "robot.xml", params, key, None, False, {}, None))
