package iceberglite.spark.read.planning

import java.util.UUID

import scala.collection.JavaConverters._

import org.apache.iceberg.{DataFile, DataFiles, DeleteFile, FileFormat, FileMetadata, Table => PeerTable}
import org.scalatest.Suite

import iceberglite.spark.types.JavaTables

/** Creates tables whose metadata lists files that do not exist. Tests plan queries on them, but do not run them. */
trait DeclaredFiles extends JavaTables { self: Suite =>

  /**
   * Creates a table in Apache Iceberg's catalog.
   *
   * @param partitioned whether the table is partitioned by the column `p`
   */
  protected def declaredTable(partitioned: Boolean, version: Int = 2): String = {
    val name = newTable("declared")
    val partitioning = if (partitioned) "PARTITIONED BY (p)" else ""
    sql(
      s"""CREATE TABLE ${inApacheIceberg(name)} (k BIGINT, p INT) USING iceberg $partitioning
         |TBLPROPERTIES ('format-version' = '$version')""".stripMargin
    )
    name
  }

  /** @param offsets start offsets of the row groups in the file, in bytes */
  protected def dataFile(
      table: PeerTable,
      bytes: Long,
      rows: Long = 1000,
      offsets: Seq[Long] = Nil,
      partition: Int = 0
  ): DataFile = {
    val builder = DataFiles.builder(table.spec).withFormat(FileFormat.PARQUET)
      .withPath(s"${table.location}/data/${UUID.randomUUID}.parquet").withFileSizeInBytes(bytes).withRecordCount(rows)
    if (offsets.nonEmpty) builder.withSplitOffsets(offsets.map(java.lang.Long.valueOf).asJava)
    if (table.spec.isPartitioned) builder.withPartitionPath(s"p=$partition")
    builder.build()
  }

  protected def deletionVector(table: PeerTable, target: DataFile, rows: Long): DeleteFile = {
    val builder = FileMetadata.deleteFileBuilder(table.spec).ofPositionDeletes().withFormat(FileFormat.PUFFIN)
      .withPath(s"${table.location}/data/${UUID.randomUUID}.puffin").withFileSizeInBytes(500).withRecordCount(rows)
      .withReferencedDataFile(target.location).withContentOffset(4).withContentSizeInBytes(100)
    if (table.spec.isPartitioned) builder.withPartition(target.partition)
    builder.build()
  }

  /** Returns the metadata of a position delete file that may apply to all data files of the partition. */
  protected def positionDeletes(table: PeerTable, bytes: Long, partition: Int = 0): DeleteFile = {
    val builder = FileMetadata.deleteFileBuilder(table.spec).ofPositionDeletes().withFormat(FileFormat.PARQUET)
      .withPath(s"${table.location}/data/${UUID.randomUUID}-deletes.parquet").withFileSizeInBytes(bytes)
      .withRecordCount(100)
    if (table.spec.isPartitioned) builder.withPartitionPath(s"p=$partition")
    builder.build()
  }

  protected def append(table: String, files: PeerTable => Seq[DataFile]): Seq[DataFile] = {
    val peerTable = loaded(table)
    val added = files(peerTable)
    val commit = peerTable.newAppend()
    added.foreach(commit.appendFile)
    commit.commit()
    added
  }

  protected def addDeletes(table: String, files: PeerTable => Seq[DeleteFile]): Unit = {
    val peerTable = loaded(table)
    val commit = peerTable.newRowDelta()
    files(peerTable).foreach(commit.addDeletes)
    commit.commit()
  }
}
