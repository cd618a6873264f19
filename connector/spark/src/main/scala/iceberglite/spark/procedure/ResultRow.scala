package iceberglite.spark.procedure

import org.apache.spark.sql.Row

/** Creates rows of results. */
private[iceberglite] object ResultRow {

  /** Returns a row. An [[Option]] becomes its value, or null if it is empty. */
  def apply(values: Any*): Row = Row.fromSeq(values.map {
    case value: Option[_] => value.orNull[Any]
    case value => value
  })
}
