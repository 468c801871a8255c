"""How much each unit's unseen labels could move the measure: the one formula behind every design.

With ``J = Dg(R)`` at the belief's own value of ``R``, the influence of an item is ``J @ l``. What a
design needs is its size under the belief: root mean square (Sawade 2013, Thm 4.1), mean absolute
(better per label where re-draws are free), or the standard deviation that is left when the estimator
subtracts what the belief predicts.
"""
