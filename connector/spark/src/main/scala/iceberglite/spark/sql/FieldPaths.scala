package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.types.StructType

/** Fields of structs, by the names on their paths. */
private[sql] object FieldPaths {

  /** Returns a struct with only the fields on given paths; paths of missing fields are ignored. */
  def only(struct: StructType, paths: Seq[Seq[String]], resolver: Resolver): StructType = StructType(
    struct.fields.flatMap { field =>
      val below = paths.filter(p => p.nonEmpty && resolver(p.head, field.name)).map(_.tail)
      field.dataType match {
        case _ if below.isEmpty => None
        case _ if below.exists(_.isEmpty) => Some(field)
        case inner: StructType =>
          Some(only(inner, below, resolver)).filter(_.nonEmpty).map(t => field.copy(dataType = t))
        case _ => None
      }
    }
  )
}
