package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.types.StructType

/** Selects fields of structs by their paths. A path consists of the names of the enclosing fields and of the field. */
private[sql] object FieldPaths {

  /** Returns a struct with only the fields on the given paths; paths of missing fields are ignored. */
  def select(struct: StructType, paths: Seq[Seq[String]], resolver: Resolver): StructType = StructType(
    struct.fields.flatMap { field =>
      val remainders = paths.filter(p => p.nonEmpty && resolver(p.head, field.name)).map(_.tail)
      field.dataType match {
        case _ if remainders.isEmpty => None
        case _ if remainders.exists(_.isEmpty) => Some(field)
        case inner: StructType =>
          Some(select(inner, remainders, resolver)).filter(_.nonEmpty).map(t => field.copy(dataType = t))
        case _ => None
      }
    }
  )
}
