package iceberglite.data.orc

import scala.collection.JavaConverters._

import org.apache.orc.OrcProto.ColumnStatistics
import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category
import org.apache.orc.impl.ReaderImpl

import iceberglite.data.{DataSource, FileFaults, ImportedColumns, Projection, WrittenFile}
import iceberglite.metrics.{ColumnMetrics, MetricsModes}
import iceberglite.spec.file.{FileFormat, MetricMaps}
import iceberglite.spec.property.MetricsMode.NoMetrics
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type.StructType

/** Derives the metadata of an ORC file from its footer. */
private[orc] object OrcInspection {
  def inspect(source: DataSource, schema: Schema, modes: MetricsModes): WrittenFile =
    FileFaults.wrapReadErrors(source.path) {
      val reader = OrcTail.open(source.path, OrcStorage.toRead(source.content, source.path))
      try inspect(source, reader, schema, modes)
      finally reader.close()
    }

  /** Whether any column of a file has a field id. */
  def hasIds(source: DataSource): Boolean = FileFaults.wrapReadErrors(source.path) {
    val reader = OrcTail.open(source.path, OrcStorage.toRead(source.content, source.path))
    try OrcSchemas.hasIds(reader.getSchema)
    finally reader.close()
  }

  private def inspect(source: DataSource, reader: ReaderImpl, schema: Schema, modes: MetricsModes): WrittenFile = {
    val file = OrcBatchReader.withIds(source, reader, schema.asStruct)
    new OrcProjection(file, Projection.ofRecords(source.path, source.constants)).readPlan(schema.asStruct)
    ImportedColumns.check(
      source,
      OrcSchemas.children(file).map { case (name, node) => name -> OrcSchemas.idOf(node) },
      schema
    )
    val rows = reader.getNumberOfRows
    val columns = columnsOf(file, schema.asStruct).filter { case (field, _) => modes.of(field.id) != NoMetrics }
    val stripes = reader.getStripes.asScala.map(_.getOffset).toVector
    WrittenFile(source.path, FileFormat.Orc, rows, source.length, metrics(reader, rows, columns, modes), stripes)
  }

  /** Returns the primitive columns outside of lists and maps, with their nodes in the file. */
  private def columnsOf(node: TypeDescription, struct: StructType): Vector[(NestedField, TypeDescription)] =
    OrcSchemas.children(node).flatMap { case (_, child) =>
      struct.fields.find(f => OrcSchemas.idOf(child).contains(f.id)).toVector.flatMap { field =>
        field.fieldType match {
          case nested: StructType if child.getCategory == Category.STRUCT => columnsOf(child, nested)
          case _: PrimitiveType => Vector(field -> child)
          case _ => Vector.empty
        }
      }
    }

  /** Returns the metrics of columns. Columns for which the file has no statistics are omitted. */
  private def metrics(
      reader: ReaderImpl,
      rows: Long,
      columns: Vector[(NestedField, TypeDescription)],
      modes: MetricsModes
  ): MetricMaps = {
    val statistics = reader.getOrcProtoFileStatistics
    val known = columns.flatMap { case (field, node) =>
      statistics.asScala.lift(node.getId).filter(_.hasNumberOfValues).map((field, node, _))
    }
    val bounds = new OrcBounds(reader.getWriterVersion)
    val collected = known.map { case (field, node, s) =>
      // The time zone of timestamps is in the stripe footers, which are not read.
      val ofColumn = bounds.of(field, node, s, timesInUtc = false, withoutNan = hasNoNan(s))
      val nulls = math.max(0L, rows - s.getNumberOfValues)
      ColumnMetrics(field.id, nulls, None, ofColumn.collect { case (Some(low), Some(high)) => low -> high })
    }
    val sizes = known.collect { case (field, _, s) if s.hasBytesOnDisk => field.id -> s.getBytesOnDisk }.toMap
    ColumnMetrics.metrics(rows, collected, modes, Some(sizes))
  }

  /**
   * Returns whether a floating point column is known to contain no NaN. The minimum and the maximum do not show this,
   * but the sum does: it is NaN if one of the values is NaN.
   */
  private def hasNoNan(s: ColumnStatistics): Boolean =
    s.hasDoubleStatistics && s.getDoubleStatistics.hasSum && !s.getDoubleStatistics.getSum.isNaN
}
