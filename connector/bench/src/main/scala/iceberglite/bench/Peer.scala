package iceberglite.bench

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.iceberg.{
  DataFile,
  DataFiles,
  ManifestFiles,
  Metrics,
  PartitionSpec,
  PartitionSpecParser,
  Schema,
  SchemaParser
}
import org.apache.iceberg.inmemory.InMemoryFileIO

import iceberglite.spec.json.{PartitionSpecJson, SchemaJson}

/** The schema, partition spec and files of [[Sample]], as objects of Apache Iceberg's classes. */
object Peer {
  val schema: Schema = SchemaParser.fromJson(SchemaJson.toJson(Sample.schema))
  val spec: PartitionSpec = PartitionSpecParser.fromJson(schema, PartitionSpecJson.toJson(Sample.spec))
  val version = 2
  val snapshotId = 4711L

  def file(i: Int): DataFile = {
    val fields = Sample.schema.fields
    def map[V](value: iceberglite.spec.types.NestedField => V): java.util.Map[Integer, V] =
      fields.map(f => Int.box(f.id) -> value(f)).toMap.asJava
    val metrics = new Metrics(
      Sample.rows,
      map(_ => Long.box(Sample.columnSize)),
      map(_ => Long.box(Sample.rows)),
      map(_ => Long.box(0L)),
      Map(Int.box(4) -> Long.box(0L)).asJava,
      map[ByteBuffer](Sample.lower(_, i)),
      map[ByteBuffer](Sample.upper(_, i))
    )
    val partition = DataFiles.data(spec, s"ts_day=${java.time.LocalDate.ofEpochDay(Sample.day(i).toLong)}")
    DataFiles.builder(spec).withPath(Sample.path(i)).withFormat("parquet").withPartition(partition)
      .withFileSizeInBytes(Sample.length).withMetrics(metrics)
      .withSplitOffsets(java.util.Arrays.asList(4L, 4L + (24L << 20))).build()
  }

  /** Writes a manifest of the files. @return the manifest list entry of the manifest, and the bytes of the manifest */
  def manifest(files: Iterator[DataFile]): (org.apache.iceberg.ManifestFile, Array[Byte]) = {
    val io = new InMemoryFileIO
    val output = io.newOutputFile("memory:/manifest.avro")
    val writer = ManifestFiles.write(version, spec, output, snapshotId)
    try files.foreach(f => writer.add(f))
    finally writer.close()
    (writer.toManifestFile, io.newInputFile("memory:/manifest.avro").newStream().readAllBytes())
  }
}
