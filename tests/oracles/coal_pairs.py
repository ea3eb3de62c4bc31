"""Signed distances of shapes by coal, for comparison: its solvers and its shapes, our poses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

coal = pytest.importorskip("coal")
COAL = 2e-7  # coal's own error, relative to the extent: its GJK stops at about 1e-8


def coal_shape(shape: Any) -> Any:
    """A shape of coal, in the frame of ours."""
    match shape:
        case sr.Sphere():
            return coal.Sphere(shape.radius)
        case sr.Capsule():
            return coal.Capsule(shape.radius, shape.length)
        case sr.Cylinder():
            return coal.Cylinder(shape.radius, shape.length)
        case sr.Box():
            return coal.Box(np.array(shape.size))
        case sr.Ellipsoid():
            return coal.Ellipsoid(np.array(shape.radii))
        case sr.HalfSpace():
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        case sr.ConvexMesh():
            points = coal.StdVec_Vec3s()
            for point in np.asarray(shape.points):
                points.append(point)
            return coal.Convex.convexHull(points, True, "Qt")
    raise AssertionError(shape)


def coal_distance(a: Any, X_WA: sr.Pose, b: Any, X_WB: sr.Pose) -> tuple[float, np.ndarray]:
    """Signed distance [m], and the normal from a to b."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    places = [coal.Transform3s(np.array(X.rotation), np.array(X.xyz)) for X in (X_WA, X_WB)]
    distance = coal.distance(coal_shape(a), places[0], coal_shape(b), places[1], request, result)
    return distance, np.array(result.normal)
