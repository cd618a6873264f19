package iceberglite.peer

import java.util.UUID

import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.expressions.Expressions
import org.apache.iceberg.hadoop.HadoopTables
import org.apache.iceberg.types.Types
import org.apache.iceberg.{
  DataFile,
  DeleteFile,
  FileMetadata,
  HasTableOperations,
  ImmutableGenericPartitionStatisticsFile,
  PartitionSpec => PeerSpec,
  PartitionStatistics => PeerStatistics,
  PartitionStatsHandler,
  Schema => PeerSchema,
  SortOrder => PeerOrder,
  Table => JavaTable
}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.conformance.StatisticsRules
import iceberglite.data.DataFormats
import iceberglite.maintenance.{PartitionStatistics, PartitionStatisticsFiles}
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._
import iceberglite.storage.{HadoopFileIO, MetadataFiles, TemporaryDirectory}

/** Compares the partition statistics that both libraries compute, and their files, for tables of Apache Iceberg. */
class PartitionStatisticsPeerSuite extends AnyFunSuite with TemporaryDirectory {
  private val io = new HadoopFileIO(new Configuration(false))

  private val columns = new PeerSchema(
    Types.NestedField.required(1, "id", Types.IntegerType.get),
    Types.NestedField.optional(2, "category", Types.StringType.get),
    Types.NestedField.optional(3, "day", Types.DateType.get),
    Types.NestedField.optional(4, "amount", Types.DecimalType.of(20, 2)),
    Types.NestedField.optional(5, "key", Types.UUIDType.get)
  )

  /** A table that Apache Iceberg writes with random commits. The seed determines the commits. */
  final private class History(version: Int, format: String, seed: Long) {
    private val random = new Random(seed)
    private val live = mutable.ArrayBuffer.empty[DataFile]
    private var count = 0

    val table: JavaTable = new HadoopTables(new Configuration(false)).create(
      columns,
      PeerSpec.builderFor(columns).identity("category").identity("amount").build(),
      PeerOrder.unsorted,
      Map("format-version" -> version.toString, "write.format.default" -> format).asJava,
      directory.resolve(s"t$version$format$seed").toString
    )

    /** Makes random commits with three partition specs, and returns this object. */
    def commitAll(): this.type = {
      (0 until 3).foreach(_ => step())
      table.updateSpec().addField(Expressions.bucket("id", 4)).addField(Expressions.day("day")).commit()
      (0 until 3).foreach(_ => step())
      table.updateSpec().removeField("category").addField("key").commit()
      (0 until 3).foreach(_ => step())
      append()
      this
    }

    private def step(): Unit = random.nextInt(4) match {
      case 0 if live.nonEmpty => table.newDelete().deleteFile(live.remove(random.nextInt(live.size))).commit()
      case 1 if version > 1 && live.nonEmpty => delete()
      case _ => append()
    }

    def append(): Unit = {
      val files = Seq.fill(1 + random.nextInt(3))(file(Content.Data))
        .map(PeerFiles.dataFile(_, table.spec))
      files.foldLeft(table.newAppend())(_ appendFile _).commit()
      live ++= files
    }

    private def delete(): Unit = {
      val target = live(random.nextInt(live.size))
      val deletes: DeleteFile =
        if (random.nextBoolean()) {
          PeerFiles.deleteFile(file(Content.EqualityDeletes), table.spec)
        } else {
          val vector = version > 2
          val format = if (vector) FileFormat.Puffin else FileFormat.Orc
          val builder = FileMetadata.deleteFileBuilder(table.specs.get(target.specId)).ofPositionDeletes()
            .withFormat(format.name).withPath(path(format)).withPartition(target.partition).withFileSizeInBytes(50L)
            .withRecordCount(random.nextInt(9) + 1L).withReferencedDataFile(target.location)
          (if (vector) builder.withContentOffset(4L).withContentSizeInBytes(40L) else builder).build()
        }
      // A file can have only one deletion vector, so no further deletes are added for this file.
      if (version > 2 && deletes.format.name == "PUFFIN") live -= target
      table.newRowDelta().addDeletes(deletes).commit()
    }

    private def path(format: FileFormat): String = {
      count += 1
      s"${table.location}/data/$count${format.extension}"
    }

    private def file(content: Content): ContentFile = {
      val values = table.spec.partitionType.fields.asScala.map { f =>
        if (random.nextInt(3) == 0) None else Some(value(f.`type`.toString))
      }
      val ids = if (content == Content.EqualityDeletes) Vector(1) else Vector.empty
      val records = random.nextInt(100) + 1L
      ContentFile(
        content,
        path(FileFormat.Parquet),
        FileFormat.Parquet,
        table.spec.specId,
        PartitionTuple(values.toVector),
        records,
        records * 10,
        Metrics.Empty,
        equalityIds = ids
      )
    }

    private def value(t: String): Literal = t match {
      case "int" => IntLiteral(random.nextInt(4))
      case "string" => StringLiteral(Seq("a", "b", "", "ü").apply(random.nextInt(4)))
      case "date" => DateLiteral(random.nextInt(5) - 2)
      case "uuid" => UuidLiteral(new UUID(random.nextInt(3).toLong, 1L))
      case _ => DecimalLiteral(java.math.BigDecimal.valueOf(random.nextInt(3) * 100L - 100L, 2))
    }

    def metadata: TableMetadata = {
      table.refresh()
      MetadataFiles.read(io, table.asInstanceOf[HasTableOperations].operations.current.metadataFileLocation)
    }
  }

  private def comparable(row: PartitionStatistics): Vector[Any] = Vector(
    row.partition.map(_.map(Literal.javaValue)),
    row.specId,
    row.dataRecordCount,
    row.dataFileCount,
    row.totalDataFileSizeInBytes,
    row.positionDeleteRecordCount,
    row.positionDeleteFileCount,
    row.equalityDeleteRecordCount,
    row.equalityDeleteFileCount,
    row.totalRecordCount,
    row.lastUpdatedAt,
    row.lastUpdatedSnapshotId,
    row.dvCount
  )

  private def comparable(row: PeerStatistics, width: Int): Vector[Any] = Vector(
    (0 until width).toVector.map(i => Option(row.partition.get(i, classOf[Object])).map(javaText)),
    row.specId,
    row.dataRecordCount,
    row.dataFileCount,
    row.totalDataFileSizeInBytes,
    Option(row.positionDeleteRecordCount),
    Option(row.positionDeleteFileCount),
    Option(row.equalityDeleteRecordCount),
    Option(row.equalityDeleteFileCount),
    Option(row.totalRecords),
    Option(row.lastUpdatedAt),
    Option(row.lastUpdatedSnapshotId),
    Option(row.dvCount).getOrElse(0)
  )

  private def javaText(value: AnyRef): AnyRef = value match {
    case text: CharSequence => text.toString
    case other => other
  }

  // Apache Iceberg does not support ORC for partition statistics files.
  for (format <- DataFormats.all.map(_.format).filter(_ != FileFormat.Orc); version <- 1 to 3)
    test(
      s"both libraries compute the same rows of a version $version table and read each other's ${format.name} files",
      Seq(
        StatisticsRules.partitionFileCounts,
        StatisticsRules.partitionFileFormat,
        StatisticsRules.partitionFileOrder,
        StatisticsRules.partitionFileColumns,
        StatisticsRules.unifiedPartition
      ) ++ Sampling.slowInSomeRunsUnless(format == FileFormat.Parquet && version == 3): _*
    ) {
      val history = new History(version, format.name, version.toLong).commitAll()
      val table = history.table
      val theirFile = PartitionStatsHandler.computeAndWriteStatsFile(table)
      table.updatePartitionStatistics().setPartitionStatistics(theirFile).commit()
      val metadata = history.metadata
      val snapshot = metadata.currentSnapshot.get
      val computed = PartitionStatisticsFiles.compute(io, metadata, snapshot)
      val theirs = PartitionStatisticsFiles.read(io, metadata, metadata.partitionStatistics.head)
      assert(theirs.sorted(PartitionStatistics.ordering) == computed)
      assert(theirs.map(_.partition) == computed.map(_.partition), "the rows must have the same order")

      val ours = PartitionStatisticsFiles.write(io, metadata, snapshot, new UUID(0, 1)).get
      val registered = ImmutableGenericPartitionStatisticsFile.builder.snapshotId(ours.snapshotId)
        .path(ours.statisticsPath).fileSizeInBytes(ours.fileSizeInBytes).build()
      table.updatePartitionStatistics().setPartitionStatistics(registered).commit()
      val scan = table.newPartitionStatisticsScan().useSnapshot(ours.snapshotId).scan()
      val width = computed.head.partition.size
      try assert(scan.asScala.map(comparable(_, width)).toVector == computed.map(comparable))
      finally scan.close()
    }

  test(
    "Apache Iceberg updates a partition statistics file of this library",
    Slow,
    StatisticsRules.partitionFileCounts
  ) {
    for (version <- 2 to 3) {
      val history = new History(version, FileFormat.Parquet.name, 77L).commitAll()
      val table = history.table
      val before = history.metadata
      val ours = PartitionStatisticsFiles.write(io, before, before.currentSnapshot.get, new UUID(0, 2)).get
      val registered = ImmutableGenericPartitionStatisticsFile.builder.snapshotId(ours.snapshotId)
        .path(ours.statisticsPath).fileSizeInBytes(ours.fileSizeInBytes).build()
      table.updatePartitionStatistics().setPartitionStatistics(registered).commit()
      history.append()
      val next = PartitionStatsHandler.computeAndWriteStatsFile(table)
      table.updatePartitionStatistics().setPartitionStatistics(next).commit()
      val metadata = history.metadata
      val file = metadata.partitionStatistics.find(_.snapshotId == next.snapshotId).get
      val computed = PartitionStatisticsFiles.compute(io, metadata, metadata.currentSnapshot.get)
      // Apache Iceberg keeps the rows of partitions whose last file was removed. All counts in these rows are zero.
      val kept =
        PartitionStatisticsFiles.read(io, metadata, file).filter(r => computed.exists(_.partition == r.partition))
      assert(kept.sorted(PartitionStatistics.ordering) == computed)
    }
  }
}
