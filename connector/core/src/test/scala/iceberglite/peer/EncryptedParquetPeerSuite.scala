package iceberglite.peer

import java.io.File
import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.{Files => PeerLocal}
import org.apache.iceberg.data.{Record => PeerRecord}
import org.apache.iceberg.data.parquet.{GenericParquetReaders, GenericParquetWriter}
import org.apache.iceberg.parquet.Parquet
import org.apache.iceberg.shaded.org.apache.parquet.schema.{MessageType => PeerMessageType}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.{DataSource, DataTarget, Record}
import iceberglite.data.parquet.ParquetData
import iceberglite.encryption.{EncryptedStorage, FileKey}
import iceberglite.metrics.MetricsModes
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}

/** Exchanges encrypted Parquet files with Apache Iceberg. */
class EncryptedParquetPeerSuite extends AnyFunSuite with TemporaryDirectory {
  private val io = new HadoopFileIO(new Configuration(false))

  private val schema = Schema(
    0,
    Vector(
      required(1, "id", IntType),
      optional(2, "name", StringType),
      optional(3, "list", ListType(4, LongType, elementRequired = false))
    )
  )

  private val rows: Vector[Record] = (0 until 5000).map { i =>
    Record.of(i, if (i % 5 == 0) null else s"name ${i % 100}", Vector(Long.box(i.toLong), null))
  }.toVector

  private def comparable(rows: Seq[Record]): Vector[Any] =
    rows.map(PeerRecords.comparable(_, schema.asStruct)).toVector

  for (version <- Seq("v1", "v2"); codec <- Seq("zstd", "uncompressed")) {
    val properties = Map(
      "write.parquet.page-version" -> version,
      "write.parquet.compression-codec" -> codec,
      "write.parquet.row-group-size-bytes" -> "40000",
      "write.parquet.page-size-bytes" -> "4000",
      "write.parquet.bloom-filter-enabled.column.id" -> "true"
    )

    test(s"Apache Iceberg reads an encrypted file that this library writes, with $version pages and $codec") {
      val path = s"$directory/ours-$version-$codec.parquet"
      val writer =
        ParquetData.write(DataTarget(EncryptedStorage.of(io), path, schema, properties, MetricsModes(Map.empty)))
      rows.foreach(writer.write)
      val key = FileKey.of(writer.close().dataFile(0, PartitionTuple.Empty, 0)).get
      val theirs = PeerFiles.schema(schema)
      val read = Parquet.read(PeerLocal.localInput(path)).project(theirs)
        .withFileEncryptionKey(ByteBuffer.wrap(key.key)).withAADPrefix(ByteBuffer.wrap(key.aadPrefix))
        .createReaderFunc((m: PeerMessageType) => GenericParquetReaders.buildReader(theirs, m)).build[PeerRecord]()
      try assert(comparable(read.asScala.toVector.map(PeerRecords.fromPeer(_, schema.asStruct))) == comparable(rows))
      finally read.close()
    }
  }

  test("this library reads an encrypted file that Apache Iceberg writes") {
    Seq(16, 24, 32).foreach { length =>
      val path = s"$directory/theirs-$length.parquet"
      val key = FileKey.random(length)
      val appender = Parquet.write(PeerLocal.localOutput(new File(path))).schema(PeerFiles.schema(schema))
        .withFileEncryptionKey(ByteBuffer.wrap(key.key)).withAADPrefix(ByteBuffer.wrap(key.aadPrefix))
        .createWriterFunc((s: org.apache.iceberg.Schema, m: PeerMessageType) => GenericParquetWriter.create(s, m))
        .build[PeerRecord]()
      rows.foreach(r => appender.add(PeerRecords.toPeer(r, schema)))
      appender.close()
      val read = ParquetData.read(DataSource(io, path, 0L, key = Some(key)), schema.asStruct)
      try assert(comparable(read.toVector) == comparable(rows))
      finally read.close()
    }
  }
}
