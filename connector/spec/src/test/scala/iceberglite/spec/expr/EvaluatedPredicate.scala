package iceberglite.spec.expr

import iceberglite.spec.types.Literal

/** Evaluates a single predicate. */
object EvaluatedPredicate {

  /** Returns whether a row matches if the column of the predicate has this value. */
  def on(value: Option[Literal], predicate: Predicate): Boolean =
    Evaluate.rows[Option[Literal]](predicate, _ => identity)(value)
}
