# SPDX-License-Identifier: MIT
"""Arrays and objects as they come from outside, and the shape in which the library has them."""
import types

import numpy as np

from . import _core


def series_of(path):
    """Load, particles, those ahead, bytes, steps and boundary of a load series; those that are missing are None."""
    import h5py  # not needed for arrays

    if not h5py.is_hdf5(path):
        raise FileNotFoundError(f"{path}: there is no HDF5 file; give a load series (docs/replay.md)")
    with h5py.File(path, "r") as file:
        if "load" not in file:
            raise ValueError(f"{path}: it holds no dataset /load; give a load series (docs/replay.md)")
        words = [word.decode() if isinstance(word, bytes) else word for word in file.attrs.get("boundary", [])]
        words = [word if word == "periodic" else "wall" for word in words]
        names = "load", "particles", "particles_ahead", "bytes", "step"
        return *(file[name][()] if name in file else None for name in names), words or None


def numbers(values, name, shape=None, axes=()):
    """An array of real numbers, as it is."""
    values = np.asarray(values)
    if values.dtype.kind not in "buif":
        raise ValueError(f"{name}: it holds {values.dtype}; give real numbers")
    if shape != values.shape and (shape or values.ndim not in axes or 0 in values.shape):
        wanted = f"one of shape {shape}, as load has" if shape else f"one of {axes[0]} or {axes[1]} axes, none empty"
        raise ValueError(f"{name}: it is an array of shape {values.shape}; give {wanted}")
    return values


def speeds_of(speeds, parts):
    speeds = np.asarray(speeds, dtype=float)
    if not (np.isfinite(speeds) & (speeds > 0)).all() or speeds.size not in (0, parts):
        raise ValueError("speeds: they are not all > 0, or not as many as parts; give one for each part")
    return speeds.ravel().tolist()


class Fields:
    """The shape of load fields, [ny, nx] or [nz, ny, nx]. In the library fields are flat, x slowest."""

    def __init__(self, shape, boundary, counted=False):
        words = [str(word).strip() for word in (["wall"] * len(shape) if boundary is None else boundary)]
        if len(words) != len(shape):
            raise ValueError(f"boundary: {len(words)} words for {len(shape)} axes; give one for each, from x on")
        if unknown := {*words} - {"periodic", "reflecting", "wall"}:
            raise ValueError(f"boundary: {unknown.pop()}; give periodic, reflecting or wall for each axis")
        periodic = [word == "periodic" for word in [*words, "wall"][:3]]
        self.shape, self.counted = shape, counted
        self.grid = _core.Grid([*shape[::-1], 1][:3], periodic, len(shape))

    def shaped(self, flat):
        """Of the last axis; one before it stays."""
        whole = flat.reshape(*flat.shape[:-1], *self.shape[::-1])
        return whole.T if flat.ndim == 1 else np.moveaxis(whole.T, -1, 0)

    def flat(self, field, dtype=float):
        return np.ascontiguousarray(np.transpose(field), dtype=dtype).ravel()

    def answer(self, who, found, kinds, most):
        """The values that a function has returned."""
        found, whole = np.asarray(found), "numbers" if "f" in kinds else "whole numbers"
        if found.shape != self.shape or found.dtype.kind not in kinds:
            what = f"{found.dtype} of shape {found.shape}"
        elif (good := (found >= 0) & (found <= most)).all():
            return self.flat(found, float if "f" in kinds else np.int32)
        else:
            cell = tuple(np.argwhere(~good)[0].tolist())
            what = f"{found[cell]} in cell {list(cell)}"
        raise ValueError(f"{who}: it returns {what}; return {whole} from 0 to {most:g}, of shape {self.shape}")

    def call(self, key, who, value):
        """What the library calls for a model, a criterion or a partition of one's own."""

        def update(times, counts, owner):
            found = value.update(times, self.shaped(counts) if self.counted else None, self.shaped(owner))
            return self.answer(f"{who}.update", found, "iuf", 1e100)

        def decide(**now):
            answer = getattr(value, "decide", value)(types.SimpleNamespace(**now))
            if not isinstance(answer, (bool, np.bool_)):
                raise ValueError(f"{who}: it returns {type(answer).__name__}; return True or False")
            return bool(answer)

        def divide(load, parts, owner):
            return self.answer(who, value(self.shaped(load), parts, self.shaped(owner)), "iu", parts - 1)

        return {"model": update, "criterion": decide, "partition": divide}[key]

    def own_parts(self, entry, driver=None):
        """Takes objects out of a contender's options: {name, model, criterion, criterion_name, partition}, as far as
        given. An entry without a criterion or partitioner has the driver's."""
        kept = [key for key in ("criterion", "partition") if key not in entry]
        own = {key: value for key, value in (driver or {}).items() if key.split("_")[0] in kept}
        names = []
        for key, method in (("model", "update"), ("criterion", "decide"), ("partition", "__call__")):
            value = entry.get(key)
            value = value() if isinstance(value, type) else value
            if key == "partition" and isinstance(value, str):
                entry[key] = {"kind": value}
            if isinstance(value, (str, dict)) or not (hasattr(value, method) or callable(value)):
                names += [value] if key == "model" else []
                continue
            name = str(getattr(value, "name", None) or getattr(value, "__name__", type(value).__name__))
            if key == "model" and not hasattr(value, method):
                raise ValueError(f"model: {name} has no method update(times, counts, owner); give it one")
            names.append(name)
            own |= {"name": "", key: self.call(key, name, value), f"{key}_name": name}
            del entry[key]
        if "name" in own:
            own["name"] = entry.get("name") or "/".join(map(str, names[: 3 if driver else 1]))
        if "model" in own:
            entry["model"] = "exact"
        return own
