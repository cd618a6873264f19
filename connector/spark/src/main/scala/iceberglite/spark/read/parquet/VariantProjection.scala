package iceberglite.spark.read.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.{ColumnPath, ParquetMetadata}
import org.apache.parquet.schema.{GroupType, Type => ParquetType}

import iceberglite.data.VariantPath
import iceberglite.parquet.ParquetShapes.{childrenOf, shapeOf, withChildren, Struct}
import iceberglite.spec.types.VariantFields.{Metadata, TypedValue, Value}

/**
 * Selects the columns of a variant in a file that contain the requested parts of the variant (Parquet: "Variant
 * Shredding"). A shredded field of an object is only in its own columns.
 *
 * @param isEmpty whether a column of the file has no values in the row groups that are read, according to its
 *   statistics
 */
final private[parquet] class VariantProjection(isEmpty: Vector[String] => Boolean) {

  /**
   * Returns the group of a variant with only the columns of some parts.
   *
   * @param columns the names that lead to the group in the file
   */
  def of(group: GroupType, columns: Vector[String], paths: Set[VariantPath]): GroupType = {
    val kept = children(group, columns, paths.toVector.map(_.steps))
    // The metadata has the names of the fields of encoded values. Typed columns do not need it.
    val needsMetadata = kept.exists(hasEncoded)
    val all = childrenOf(group).flatMap { child =>
      if (child.getName == Metadata) Some(child).filter(_ => needsMetadata)
      else kept.find(_.getName == child.getName)
    }
    withChildren(group, all)
  }

  private def hasEncoded(field: ParquetType): Boolean = field.getName == Value && field.isPrimitive || (field match {
    case group: GroupType => childrenOf(group).exists(hasEncoded)
    case _ => false
  })

  /**
   * Returns the fields of a group of `value` and `typed_value` to read.
   *
   * @param paths the paths relative to the group
   */
  private def children(
      group: GroupType,
      columns: Vector[String],
      paths: Vector[Vector[VariantPath.Step]]
  ): Vector[ParquetType] = {
    val parts = childrenOf(group).filterNot(_.getName == Metadata)
    val value = parts.find(_.getName == Value)
    val typed = parts.find(_.getName == TypedValue)
    val unusedValue = value.filter(v => typed.isDefined && isEmpty(columns :+ v.getName))
    val names = paths.map(_.headOption.collect { case VariantPath.Field(name) => name })
    if (names.exists(_.isEmpty)) parts.diff(unusedValue.toVector)
    else {
      val byName = paths.groupBy(_.head).collect { case (VariantPath.Field(name), all) => name -> all.map(_.tail) }
      val (fields, count) = typed.collect { case t: GroupType if shapeOf(t).contains(Struct) => t }
        .fold((Option.empty[ParquetType], 0))(requestedFields(_, columns, byName))
      val encoded = if (count == byName.size || fields.isDefined && unusedValue.isDefined) None else value
      val kept = parts.flatMap(p => encoded.filter(_ eq p).orElse(fields.filter(_ => p.getName == TypedValue)))
      if (kept.isEmpty) parts else kept
    }
  }

  /** Returns a group of shredded fields with only the requested fields, if it has any of them, and their number. */
  private def requestedFields(
      typed: GroupType,
      columns: Vector[String],
      requested: Map[String, Vector[Vector[VariantPath.Step]]]
  ): (Option[ParquetType], Int) = {
    val fields = childrenOf(typed).collect {
      case field: GroupType if requested.contains(field.getName) =>
        val inField = columns :+ typed.getName :+ field.getName
        withChildren(field, children(field, inField, requested(field.getName)))
    }
    (if (fields.isEmpty) None else Some(withChildren(typed, fields)), fields.size)
  }
}

private[parquet] object VariantProjection {

  /** Returns the projection for the row groups of a footer. */
  def of(footer: ParquetMetadata): VariantProjection = new VariantProjection(names => {
    val column = ColumnPath.get(names: _*)
    footer.getBlocks.asScala.forall(_.getColumns.asScala.exists { chunk =>
      val statistics = Option[Statistics[_]](chunk.getStatistics).filter(_.isNumNullsSet)
      chunk.getPath == column && statistics.exists(_.getNumNulls == chunk.getValueCount)
    })
  })
}
