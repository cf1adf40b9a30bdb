# SPDX-License-Identifier: MIT
"""
The expected picture of examples/torus.c, by rays in double precision against an exact torus.

Shares nothing with the example but its numbers: no triangles, no matrix, no tiles. The
surface is found by sphere tracing the torus's distance function; the texture's checks
are evaluated as a formula, without filter, so pixels near their borders are left out.
"""

import math

SIZE = 256
RING, TUBE = 1.0, 0.45
TILT = 1.2
ZOOM, DISTANCE, NEAR, FAR = 2.4, 4.0, 2.0, 6.0
LIGHT = (0.48, -0.36, 0.8)
AMBIENT = 0.15
SKY = (0.02, 0.05, 0.2)
WHITE = ((1.0, 1.0, 1.0), 1.0)
RED = ((0xe6, 0x3c, 0x28), 0x80 / 255)
BORDER = 0.12       # of a check's repetition: closer to a border nothing is compared

SMOOTH = 0.04       # of the torus's unit, some three pixels


def decode(value):
    """Return the linear light of an sRGB component from 0 to 255."""
    value /= 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def encode(light):
    """Return the sRGB component from 0 to 255 of linear light."""
    light = min(max(light, 0.0), 1.0)
    return 255 * (12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055)


def ray(x, y):
    """Return the origin and direction, per unit of depth, in the torus's space; of a place in
    pixels.
    """
    dx, dy, dz = (2 * x / SIZE - 1) / ZOOM, (1 - 2 * y / SIZE) / ZOOM, -1.0
    c, s = math.cos(TILT), math.sin(TILT)

    def rotate(a, b, d):
        return a, b * c + d * s, d * c - b * s
    return rotate(0, 0, DISTANCE), rotate(dx, dy, dz)


def hit(x, y):
    """Return the first point of the torus on the ray through a place of the picture, or None."""
    start, step = ray(x, y)
    length = math.sqrt(sum(v * v for v in step))
    depth = NEAR
    for _ in range(200):
        point = [a + depth * b for a, b in zip(start, step)]
        distance = math.hypot(math.hypot(point[0], point[1]) - RING, point[2]) - TUBE
        if distance < 1e-7:
            return point
        depth += distance / length
        if depth > FAR:
            return None
    return None


def surface(point):
    """Return (normal, u, v) of a point of the torus; u and v as the example gives them."""
    a = math.atan2(point[1], point[0])
    out = math.hypot(point[0], point[1]) - RING
    b = math.atan2(point[2], out)
    normal = (math.cos(b) * math.cos(a), math.cos(b) * math.sin(a), math.sin(b))
    return normal, 8 * a / math.tau % 1, 4 * b / math.tau % 1


def shade(point):
    """Return the linear colour of a point, blended with the sky."""
    normal, u, v = surface(point)
    light = max(sum(n * l for n, l in zip(normal, LIGHT)), 0) + AMBIENT
    if (u < 0.5) != (v < 0.5):
        colour, alpha = [decode(c) for c in RED[0]], RED[1]
    else:
        colour, alpha = WHITE
    return [s + (c * light - s) * alpha for c, s in zip(colour, SKY)]


def far_from_borders(point):
    """Return whether the texture's filter cannot reach another check."""
    return all(BORDER < value % 0.5 < 0.5 - BORDER for value in surface(point)[1:])


def sample(x, y):
    """Return (whether the torus is hit, linear colour)."""
    point = hit(x, y)
    return (False, SKY) if point is None else (True, shade(point))


class Reference:
    """Coverage of pixel corners and middles, from which edge pixels follow."""

    def __init__(self):
        self.middle = [[hit(x + 0.5, y + 0.5) for x in range(SIZE)] for y in range(SIZE)]
        self.corner = [[hit(x, y) for x in range(SIZE + 1)] for y in range(SIZE + 1)]

    def corners(self, x, y):
        """Return the points of the torus at those corners of a pixel that it covers."""
        points = [self.corner[y + j][x + i] for j in range(2) for i in range(2)]
        return [point for point in points if point]

    def smooth(self, x, y):
        """Return whether a pixel shows one piece of the surface: no part of it hides another."""
        points = self.corners(x, y)
        return len(points) == 4 and all(math.dist(point, self.middle[y][x]) < SMOOTH
                                        for point in points)

    def covered(self):
        """Return the pixels whose middle is covered."""
        return sum(point is not None for row in self.middle for point in row)

    def inner(self):
        """Yield (x, y, linear colour) of pixels that the torus covers, far from edges and borders.
        """
        for y in range(SIZE):
            for x in range(SIZE):
                point = self.middle[y][x]
                if point and self.smooth(x, y) and far_from_borders(point):
                    yield x, y, shade(point)

    def edges(self):
        """Yield (x, y, colour by 64 rays, colour of the middle) of pixels on the outline."""
        for y in range(SIZE):
            for x in range(SIZE):
                if 0 < len(self.corners(x, y)) < 4:
                    rays = [sample(x + (i % 8 + 0.5) / 8, y + (i // 8 + 0.5) / 8)[1]
                            for i in range(64)]
                    mean = [sum(c) / 64 for c in zip(*rays)]
                    yield x, y, mean, sample(x + 0.5, y + 0.5)[1]
