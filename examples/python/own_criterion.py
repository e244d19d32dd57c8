# SPDX-License-Identifier: MIT
"""A criterion of one's own: balance when the LBE has fallen by a tenth since its best after the last migration."""
import numpy as np
import steelyard

t, y, x = np.meshgrid(np.arange(60), np.arange(48), np.arange(64), indexing="ij")
load = 1e-6 * (1 + 50 * np.exp(-((x - 10 - 0.7 * t) ** 2 + (y - 24) ** 2) / 60))  # a hot spot that moves along x


class Fallen:
    def decide(self, now):
        self.best = max(now.lbe, 0 if now.lost_before == 0 else self.best)
        return now.lbe < 0.9 * self.best


keys = dict(model="exact", partition=dict(sticky=False), work={"balancing": 1e-3})
print(steelyard.replay(load, 24, criterion=Fallen, compare=[dict(model="exact", criterion="menon")], **keys))
print("in hindsight:", steelyard.optimum(load, 24, work={"balancing": 1e-3}))
