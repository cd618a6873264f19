package iceberglite.spark.write

import java.net.URI
import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.orc.OrcFile
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.scalatest.Assertions._

import iceberglite.data.{DataFormats, DataSource, Record, RecordValues}
import iceberglite.puffin.DeletionVectorFiles
import iceberglite.spec.file.{Content, ContentFile, FileFormat}
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, SingleValue}
import iceberglite.spec.types.Type.{DoubleType, FloatType, StringType, StructType}
import iceberglite.table.Table
import iceberglite.tree.{ManifestCache, TreeReader}

/**
 * Recomputes the metadata of the files in a table's current snapshot from their contents, and compares it with
 * manifests.
 */
final private[write] class RecomputedMetadata(table: Table) {
  private val conf = new Configuration(false)
  private val tree = new TreeReader(table.io, table.metadata, ManifestCache.Disabled)
  private val snapshot = table.currentSnapshot
  private val files: Vector[ContentFile] =
    snapshot.toVector.flatMap(tree.manifests).flatMap(tree.entries(_).filter(_.isLive).map(_.file).toVector)
  private val (data, deletes) = files.partition(_.content == Content.Data)
  private val truncatedLength = 16

  def check(): Unit = {
    assert(files.map(f => (f.path, f.contentOffset)).distinct.size == files.size, "a file is listed twice")
    files.foreach(f => withClue(s"${f.path}: ")(checkFile(f)))
    checkTotals()
  }

  private def checkFile(file: ContentFile): Unit = {
    assert(table.io.info(file.path).map(_.length).contains(file.fileSizeInBytes))
    if (file.isDeletionVector) checkDeletionVector(file)
    else {
      val columns = columnsOf(file)
      val rows = read(file, columns)
      assert(file.recordCount == rows.size)
      columns.fields.zipWithIndex.foreach { case (f, i) => checkColumn(file, f, rows.map(_(i))) }
      assert(file.splitOffsets == splitOffsetsOf(file))
      if (file.content == Content.PositionDeletes) checkPositions(file, rows)
    }
    ()
  }

  /** Returns the current columns of the table, or for a delete file the columns of position deletes. */
  private def columnsOf(file: ContentFile): StructType =
    if (file.content == Content.Data) table.schema.asStruct
    else StructType(Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition))

  private def read(file: ContentFile, columns: StructType): Vector[Record] = {
    val source = DataSource(table.io, file.path, file.fileSizeInBytes)
    val rows = DataFormats.of(file.format).read(source, columns)
    try rows.toVector
    finally rows.close()
  }

  /** Checks the metrics of the column, unless the column was added after the file was written and so has no metrics. */
  private def checkColumn(file: ContentFile, field: NestedField, values: Vector[AnyRef]): Unit = field.fieldType match {
    case struct: StructType => struct.fields.zipWithIndex.foreach { case (child, i) =>
        checkColumn(file, child, values.map { case r: Record => r(i); case _ => null })
      }
    case t: PrimitiveType if file.metrics.valueCount(field.id).isDefined =>
      withClue(s"column ${field.name}: ")(checkLeaf(file, field.id, t, values))
    case _ => ()
  }

  private def checkLeaf(file: ContentFile, id: Int, t: PrimitiveType, values: Vector[AnyRef]): Unit = {
    val present = values.filter(_ != null)
    val isFloating = t == FloatType || t == DoubleType
    val withoutNan = present.filterNot(v => isFloating && v.toString == "NaN")
    assert(file.metrics.valueCount(id).contains(values.size.toLong))
    assert(file.metrics.nullValueCount(id).contains((values.size - present.size).toLong))
    if (isFloating) assert(file.metrics.nanValueCount(id).contains((present.size - withoutNan.size).toLong))
    val literals = withoutNan.flatMap(RecordValues.literal(_, t))
    def decoded(bound: Option[ByteBuffer]) = bound.map(b => SingleValue.decode(t, b.duplicate()))
    val bounds = (decoded(file.metrics.lowerBound(id)), decoded(file.metrics.upperBound(id)))
    if (literals.isEmpty) assert(bounds == (None -> None))
    else checkBounds(t, literals.min(Literal.ordering), literals.max(Literal.ordering), bounds)
    ()
  }

  /** Checks that bounds are exact. Bounds of long strings are truncated, and only need to include all values. */
  private def checkBounds(
      t: PrimitiveType,
      smallest: Literal,
      largest: Literal,
      bounds: (Option[Literal], Option[Literal])
  ): Unit = {
    def isTruncated(value: Literal) = value match {
      case Literal.StringLiteral(text) => t == StringType && text.length > truncatedLength
      case _ => false
    }
    val (lower, upper) = bounds
    if (isTruncated(smallest)) assert(lower.exists(Literal.ordering.lteq(_, smallest)))
    else assert(lower.contains(smallest))
    if (isTruncated(largest)) assert(upper.forall(Literal.ordering.gteq(_, largest)))
    else assert(upper.contains(largest))
    ()
  }

  private def splitOffsetsOf(file: ContentFile): Vector[Long] = {
    val path = new HadoopPath(file.path)
    file.format match {
      case FileFormat.Parquet =>
        val reader = ParquetFileReader.open(HadoopInputFile.fromPath(path, conf))
        try reader.getFooter.getBlocks.asScala.map(_.getStartingPos).toVector
        finally reader.close()
      case FileFormat.Orc =>
        val reader = OrcFile.createReader(path, OrcFile.readerOptions(conf))
        try reader.getStripes.asScala.map(_.getOffset).toVector
        finally reader.close()
      case _ => Vector.empty
    }
  }

  private def recordCountOf(path: String): Option[Long] =
    data.find(f => URI.create(f.path) == URI.create(path)).map(_.recordCount)

  private def checkDeletionVector(file: ContentFile): Unit = {
    val positions = DeletionVectorFiles.read(table.io, file)
    assert(positions.cardinality == file.recordCount)
    assert(file.referencedDataFile.flatMap(recordCountOf).exists(_ >= file.recordCount))
    ()
  }

  /** Checks that positions are unique, sorted by file and position, and less than the row count of their data file. */
  private def checkPositions(file: ContentFile, rows: Vector[Record]): Unit = {
    val positions = rows.map(r => (r(0).toString, r(1).asInstanceOf[java.lang.Long].longValue))
    assert(positions == positions.distinct.sorted)
    positions.groupBy(_._1).foreach { case (path, filePositions) =>
      recordCountOf(path).foreach(count => assert(filePositions.forall { case (_, p) => p >= 0 && p < count }))
    }
    file.referencedDataFile.foreach(path => assert(positions.forall(_._1 == path)))
  }

  private def checkTotals(): Unit = snapshot.foreach { s =>
    def total(name: String) = s.summary.get(s"total-$name").map(_.toLong)
    assert(total("records").contains(data.map(_.recordCount).sum))
    assert(total("data-files").contains(data.size.toLong))
    assert(total("delete-files").contains(deletes.size.toLong))
    assert(total("position-deletes").contains(deletes.map(_.recordCount).sum))
  }
}
