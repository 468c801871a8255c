"""Recorded draws: the same pool, configuration, seed and labels give them on every machine, for ever.

A change here changes the draws of every running study. It may be made on purpose only; running this
file as a program prints the sequences to record.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import SeedSequence

import sondage as sd
from sondage.designs import Design, Poisson, PoissonOnline
from sondage.pool import Pool
from sondage.pool.keyed_order import keyed_hash
from sondage.streams import seed_from, stream

SEED = 20260101
BATCHES = (1, 4, 10, 10, 25)
N = 300


def fixed_pool() -> tuple[Pool, dict[int, int]]:
    """300 items by integer arithmetic: scores with ties, a tenth positive, costs of 1 to 3."""
    i = np.arange(N)
    score = (i * i * 31 + i * 17 + 5) % 128 / 128.0
    label = ((i * 59 + 7) % 128 < (128 * score) ** 2 / 256).astype(int)
    pool = Pool.from_arrays(id=1000 + i * 77 % N, score=score, threshold=0.75, cost=1.0 + i % 3)
    return pool, dict(zip((1000 + i * 77 % N).tolist(), label.tolist(), strict=True))


def sequence(design: Any) -> list[int]:
    """The first thirty ids, asked in batches of different sizes, each told before the next."""
    pool, labels = fixed_pool()
    study = sd.create_study(pool, "f1", design=design, rng=SEED)
    for n in BATCHES:
        study.tell({item.id: labels[item.id] for item in study.ask(n)})
    drawn: list[int] = pool.ids_of(study.snapshot().asked_rows[:30])  # as drawn, not as handed out
    return drawn


def designs() -> dict[str, Any]:
    """Every design by its name, and the further kinds of sampling of some."""
    return {
        **{name: name for name in Design.catalogue()},
        "fixed": Poisson(fixed_size=True),
        "systematic": PoissonOnline(sampling="systematic"),
        "pivotal": PoissonOnline(sampling="pivotal"),
    }


GOLDEN = {
    "ais": """
        1034 1282 1079 1198 1123 1219 1226 1170 1262 1205 1147 1086 1228 1263 1186
        1287 1138 1120 1299 1291 1092 1234 1044 1148 1073 1192 1028 1265 1203 1180
    """,
    "auto-audit": """
        1260 1157 1135 1063 1235 1079 1047 1286 1213 1088 1126 1103 1057 1045 1287
        1203 1119 1192 1151 1123 1036 1031 1228 1136 1093 1170 1051 1044 1291 1113
    """,
    "error-curve": """
        1198 1048 1047 1095 1234 1037 1170 1096 1156 1044 1138 1036 1120 1042 1273
        1284 1074 1188 1053 1088 1148 1151 1186 1092 1219 1260 1057 1051 1143 1126
    """,
    "importance": """
        1029 1086 1190 1041 1186 1284 1103 1030 1170 1224 1076 1234 1035 1291 1192
        1088 1161 1205 1107 1057 1283 1081 1036 1043 1239 1063 1042 1146 1068 1082
    """,
    "oasis": """
        1255 1057 1281 1296 1060 1219 1234 1034 1120 1086 1192 1249 1269 1237 1263
        1199 1226 1186 1299 1035 1092 1036 1088 1138 1028 1102 1225 1079 1283 1282
    """,
    "poisson": """
        1079 1199 1157 1219 1170 1074 1265 1102 1239 1269 1092 1113 1046 1187 1120
        1022 1142 1035 1105 1198 1065 1025 1281 1053 1209 1138 1275 1180 1245 1030
    """,
    "poisson-online": """
        1126 1284 1107 1298 1151 1120 1102 1028 1292 1123 1092 1293 1035 1050 1105
        1246 1046 1044 1088 1281 1239 1079 1262 1224 1086 1136 1291 1068 1260 1143
    """,
    "sequential": """
        1057 1047 1192 1198 1237 1035 1095 1051 1281 1123 1163 1120 1269 1096 1273
        1080 1173 1151 1186 1224 1287 1282 1264 1068 1243 1222 1126 1203 1017 1189
    """,
    "stratified": """
        1157 1105 1044 1138 1239 1102 1030 1269 1187 1170 1295 1079 1199 1092 1035
        1163 1065 1209 1053 1046 1282 1148 1025 1262 1219 1260 1022 1074 1226 1265
    """,
    "uniform": """
        1157 1046 1079 1199 1170 1074 1065 1187 1113 1219 1269 1053 1209 1105 1265
        1275 1245 1022 1092 1239 1295 1298 1142 1102 1198 1177 1035 1066 1194 1067
    """,
    "fixed": """
        1079 1199 1157 1219 1170 1074 1265 1102 1239 1269 1092 1113 1046 1187 1120
        1022 1142 1035 1105 1198 1065 1025 1281 1053 1209 1138 1275 1180 1245 1030
    """,
    "systematic": """
        1092 1022 1264 1226 1136 1283 1126 1096 1194 1088 1138 1239 1079 1180 1035
        1051 1119 1200 1044 1159 1146 1123 1287 1293 1219 1260 1057 1078 1143 1170
    """,
    "pivotal": """
        1209 1107 1298 1151 1120 1278 1051 1170 1163 1053 1138 1292 1265 1092 1166
        1284 1034 1264 1282 1192 1239 1009 1287 1291 1219 1102 1260 1101 1198 1126
    """,
}


def test_every_recorded_design_is_still_there() -> None:
    assert {*GOLDEN} <= {*designs()}


@pytest.mark.parametrize("design", GOLDEN)
def test_the_recorded_draws(design: str) -> None:
    recorded = [int(id) for id in GOLDEN[design].split()]
    assert len(set(recorded)) == 30
    assert sequence(designs()[design]) == recorded


def test_the_pool_of_the_recording_is_the_same() -> None:
    pool, labels = fixed_pool()
    assert len(pool) == N
    assert (sum(labels.values()), int(pool.system().prediction.sum())) == (57, 75)
    assert pool.ids[:3].tolist() == [1000, 1001, 1002]


# ---- streams -------------------------------------------------------------------------------------


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> list[int]:
    """Philox 4x64 with ten rounds (Salmon et al. 2011), written out."""
    mask = 2**64 - 1
    x, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2E7470EE14C6C93 * x[0], 0xCA5A826395121157 * x[2]
        x = [(b >> 64) ^ x[1] ^ k[0], b & mask, (a >> 64) ^ x[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B97F4A7C15) & mask, (k[1] + 0xBB67AE8584CAA73B) & mask]
    return x


def test_the_generator_written_out_gives_the_published_words() -> None:
    """Known answers of Random123, ``kat_vectors``, philox4x64 10."""
    assert [f"{word:016x}" for word in philox((0, 0, 0, 0), (0, 0))] == [
        "16554d9eca36314c",
        "db20fe9d672d0fdc",
        "d7e772cee186176b",
        "7e68b68aec7ba23b",
    ]


@pytest.mark.parametrize(
    ("purpose", "code"),
    [("draw", 0), ("belief", 1), ("interval", 2), ("simulate", 3), ("order", 4)],
)
@pytest.mark.parametrize("number", [0, 1, 77])
def test_streams_are_philox_keyed_by_seed_purpose_and_number(purpose: Any, code: int, number: int) -> None:
    key = SeedSequence(SEED, spawn_key=(code, number)).generate_state(2, np.uint64)
    words = stream(SEED, purpose, number).words(8).tolist()
    first, second = (philox((c, 0, 0, 0), (int(key[0]), int(key[1]))) for c in (1, 2))
    assert words == first + second


def test_recorded_words() -> None:
    assert stream(SEED, "draw", 3).words(4).tolist() == [
        16351227666145137807,
        8784045080958398757,
        7192714553861932429,
        416708578612239760,
    ]
    assert seed_from(SEED) == 100810142129272075574167210625749788254
    assert keyed_hash(SEED, np.array([0, 1, 1000])).tolist() == [
        13292224318964153293,
        1721518307608914868,
        10466945875326050442,
    ]
    assert keyed_hash(SEED, np.array(["a", "item 7"])).tolist() == [3751112776793879675, 7150031831568780093]


def test_uniforms_are_the_upper_53_bits() -> None:
    words = stream(SEED, "draw", 3).words(1000)
    uniforms = stream(SEED, "draw", 3).uniform(1000)
    assert uniforms.tolist() == [(int(word) >> 11) / 2**53 for word in words]
    assert uniforms.min() >= 0
    assert uniforms.max() < 1


def test_picks_are_the_inverse_of_integer_cumulative_weights() -> None:
    cumulative = np.cumsum([3, 0, 5, 1, 7])
    picked = stream(SEED, "draw", 3).pick(cumulative, 2000)
    uniforms = stream(SEED, "draw", 3).uniform(2000)
    expected = [next(j for j, c in enumerate(cumulative) if int(u * 16) < c) for u in uniforms]
    assert picked.tolist() == expected
    assert 1 not in expected


if __name__ == "__main__":
    for name, design in designs().items():
        print(f'    "{name}": """\n        ' + " ".join(map(str, sequence(design))) + '\n    """,')
