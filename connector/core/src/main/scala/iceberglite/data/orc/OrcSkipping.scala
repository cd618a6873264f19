package iceberglite.data.orc

import java.nio.ByteBuffer

import org.apache.orc.OrcFile.WriterVersion
import org.apache.orc.OrcProto.ColumnStatistics
import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category

import iceberglite.spec.expr.Expression
import iceberglite.spec.file.{Content, ContentFile, FileFormat, InclusiveMetrics, MetricMaps, Metrics}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, SingleValue}

/**
 * Uses the statistics of a file to find the stripes and row groups that cannot contain matching rows. Individual rows
 * are not tested.
 *
 * @param schema schema of the file, with field ids
 * @param withoutNan the columns that are known to contain no NaN. The bounds of other floating point columns are not
 *   used
 */
final private[orc] class OrcSkipping(
    schema: TypeDescription,
    filter: Expression,
    withoutNan: Set[Int],
    version: WriterVersion
) {
  private val test = new InclusiveMetrics(filter)
  private val boundsInFile = new OrcBounds(version)
  private val columns: Vector[OrcSkipping.Column] =
    filter.fields.filter(_.fieldType.isInstanceOf[PrimitiveType]).flatMap(f =>
      OrcSkipping.find(schema, f).map(OrcSkipping.Column(f, _))
    ).toVector

  /** Returns whether the filter cannot skip any rows, because none of its columns is a primitive column of the file. */
  def hasNoFilter: Boolean = columns.isEmpty

  /**
   * Returns whether a stripe or row group may contain matching rows.
   *
   * @param rows number of rows in the stripe or row group
   * @param statistics returns the statistics of the column with the given number in the ORC library
   * @param timesInUtc whether timestamps without a zone were recorded in UTC
   */
  def mightMatch(rows: Long, statistics: Int => Option[ColumnStatistics], timesInUtc: Boolean): Boolean = {
    val statisticsByColumn =
      columns.flatMap(c => statistics(c.node.getId).filter(_.hasNumberOfValues).map(c -> _)).toMap
    val nullCounts = statisticsByColumn.map { case (c, s) => c.field.id -> math.max(0L, rows - s.getNumberOfValues) }
    val bounds = statisticsByColumn.flatMap { case (c, s) =>
      boundsInFile.of(c.field, c.node, s, timesInUtc, withoutNan(c.field.id)).map(c.field.id -> _)
    }
    val metrics = MetricMaps(
      valueCounts = Some(nullCounts.map { case (id, _) => id -> rows }),
      nullValueCounts = Some(nullCounts),
      nanValueCounts = Some(withoutNan.map(_ -> 0L).toMap),
      lowerBounds = Some(bounds.flatMap { case (id, (lower, _)) => lower.map(id -> OrcSkipping.encoded(_)) }),
      upperBounds = Some(bounds.flatMap { case (id, (_, upper)) => upper.map(id -> OrcSkipping.encoded(_)) })
    )
    test.mightMatch(OrcSkipping.contentFile(rows, metrics))
  }
}

private[orc] object OrcSkipping {

  /** A primitive column of the filter that is in the file, outside of lists and maps. */
  final private case class Column(field: NestedField, node: TypeDescription)

  private def find(struct: TypeDescription, field: NestedField): Option[TypeDescription] =
    OrcSchemas.children(struct).iterator.flatMap { case (_, t) =>
      if (t.getCategory == Category.STRUCT) find(t, field) else Some(t).filter(OrcSchemas.idOf(_).contains(field.id))
    }.take(1).toVector.headOption

  private def encoded(value: Literal): ByteBuffer = SingleValue.encode(value)

  /** Returns a content file with the metrics of a stripe or row group, which [[InclusiveMetrics]] can test. */
  private def contentFile(rows: Long, metrics: Metrics): ContentFile =
    ContentFile(Content.Data, "", FileFormat.Orc, 0, PartitionTuple.Empty, rows, 0L, metrics)
}
