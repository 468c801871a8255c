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
    drawn: list[int] = pool.ids_of(study.state.ledger.asked_rows[:30])  # as drawn, not as handed out
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
        1007 1088 1006 1231 1123 1122 1182 1040 1049 1205 1041 1299 1003 1044 1166
        1098 1138 1120 1086 1291 1092 1195 1027 1249 1192 1282 1225 1009 1148 1142
    """,
    "auto-audit": """
        1260 1016 1288 1063 1229 1079 1167 1286 1216 1088 1003 1238 1057 1228 1098
        1226 1248 1148 1093 1120 1080 1172 1040 1291 1005 1084 1231 1041 1136 1074
    """,
    "error-curve": """
        1231 1048 1167 1173 1195 1283 1278 1003 1294 1181 1176 1131 1282 1025 1180
        1022 1008 1279 1041 1138 1151 1079 1142 1136 1210 1030 1284 1160 1113 1084
    """,
    "importance": """
        1029 1086 1190 1041 1186 1284 1103 1030 1170 1224 1076 1234 1035 1291 1192
        1088 1161 1205 1107 1057 1283 1081 1036 1043 1239 1063 1042 1146 1068 1082
    """,
    "oasis": """
        1255 1057 1281 1089 1060 1210 1195 1007 1120 1299 1192 1249 1116 1237 1122
        1142 1226 1186 1086 1035 1092 1093 1282 1138 1284 1088 1101 1265 1182 1180
    """,
    "poisson": """
        1264 1167 1297 1138 1284 1013 1273 1179 1166 1279 1027 1023 1165 1282 1205
        1177 1182 1268 1159 1283 1030 1172 1158 1094 1147 1143 1196 1057 1084 1093
    """,
    "poisson-online": """
        1003 1284 1177 1217 1120 1027 1278 1228 1049 1006 1042 1299 1092 1136 1035
        1050 1294 1211 1264 1010 1179 1246 1046 1041 1088 1281 1079 1262 1086 1291
    """,
    "sequential": """
        1057 1167 1192 1231 1237 1035 1173 1051 1281 1006 1196 1120 1116 1204 1273
        1093 1179 1195 1265 1180 1186 1041 1118 1068 1243 1047 1268 1138 1017 1211
    """,
    "stratified": """
        1118 1264 1297 1138 1151 1027 1013 1278 1268 1084 1023 1049 1120 1205 1273
        1167 1075 1279 1179 1173 1282 1182 1146 1093 1166 1283 1116 1003 1159 1142
    """,
    "uniform": """
        1264 1167 1179 1023 1279 1013 1165 1172 1177 1284 1158 1297 1166 1196 1138
        1268 1217 1273 1229 1205 1176 1131 1027 1288 1143 1283 1182 1118 1008 1084
    """,
    "fixed": """
        1264 1167 1297 1138 1284 1013 1273 1179 1166 1279 1027 1023 1165 1282 1205
        1177 1182 1268 1159 1283 1030 1172 1158 1094 1147 1143 1196 1057 1084 1093
    """,
    "systematic": """
        1299 1022 1264 1226 1136 1283 1003 1204 1158 1088 1138 1146 1079 1180 1035
        1286 1113 1196 1172 1282 1195 1120 1205 1291 1210 1030 1051 1268 1089 1294
    """,
    "pivotal": """
        1176 1278 1217 1151 1120 1013 1196 1179 1238 1281 1049 1079 1042 1035 1166
        1284 1116 1264 1282 1192 1146 1009 1186 1136 1068 1027 1057 1022 1143 1003
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
    """StudyState answers of Random123, ``kat_vectors``, philox4x64 10."""
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
        15928204769224748219,
        15758576661016939872,
        1429711587902384951,
    ]
    assert keyed_hash(SEED, np.array(["a", "item 7"])).tolist() == [7100838602403831410, 17744460106078220662]


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
