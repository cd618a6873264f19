package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Expression, In, InSet, Literal}

/** Matches an IN condition with at least one value, without null. Spark's optimizer converts long lists to sets. */
private[rules] object InList {
  def unapply(e: Expression): Option[(Expression, Seq[Any])] = e match {
    case In(value, list) =>
      val values = list.collect { case Literal(v, _) if v != null => v }
      if (list.nonEmpty && values.size == list.size) Some(value -> values) else None
    case InSet(value, values) if values.nonEmpty && !values.contains(null) => Some(value -> values.toSeq)
    case _ => None
  }
}
