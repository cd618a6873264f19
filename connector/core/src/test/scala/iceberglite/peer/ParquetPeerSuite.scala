package iceberglite.peer

import java.io.File
import java.nio.ByteBuffer
import java.nio.file.Files
import java.util.UUID

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.{Files => PeerLocal, Metrics => PeerMetrics, MetricsConfig, SortOrderParser}
import org.apache.iceberg.data.{Record => PeerRecord}
import org.apache.iceberg.data.parquet.{GenericParquetReaders, GenericParquetWriter}
import org.apache.iceberg.parquet.{Parquet, ParquetSchemaUtil, ParquetUtil}
import org.apache.iceberg.shaded.org.apache.parquet.schema.{MessageTypeParser => PeerParser}
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.{MetricsRules, ParquetRules}
import iceberglite.data.{DataSource, DataTarget, Record, RecordGenerators, WrittenFile}
import iceberglite.data.parquet.ParquetData
import iceberglite.metrics.MetricsModes
import iceberglite.parquet.{ParquetSchemas, SchemaOfParquet}
import iceberglite.spec.file.Metrics
import iceberglite.spec.json.SortOrderJson
import iceberglite.spec.partition.{Identity, NullOrder, SortDirection, SortField, SortOrder}
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.property.MetricsMode.{Counts, Full, NoMetrics, Truncate}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}

/** Compares how iceberg-lite and Apache Iceberg read and write Parquet files, and the metrics that both return. */
class ParquetPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks with TemporaryDirectory {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 40)

  implicit private def unshrunk[A]: Shrink[A] = Shrink.shrinkAny

  private val io = new HadoopFileIO(new Configuration(false))

  private def newPath(): String = s"$directory/${UUID.randomUUID}.parquet"

  private def modes(schema: Schema, mode: MetricsMode): MetricsModes =
    MetricsModes(schema.byId.map { case (id, _) => id -> mode })

  private def write(schema: Schema, rows: Seq[Record], modes: MetricsModes): WrittenFile = {
    val writer = ParquetData.write(DataTarget(io, newPath(), schema, Map.empty, modes))
    rows.foreach(writer.write)
    writer.close()
  }

  private def read(path: String, schema: Schema): Vector[Record] = {
    val rows = ParquetData.read(DataSource(io, path, 0), schema.asStruct)
    try rows.toVector
    finally rows.close()
  }

  private def writeWithPeer(schema: Schema, rows: Seq[Record], config: MetricsConfig): (String, PeerMetrics) = {
    val path = newPath()
    val theirs = PeerFiles.schema(schema)
    val appender = Parquet.write(PeerLocal.localOutput(new File(path))).schema(theirs).metricsConfig(config)
      .createWriterFunc(
        (s: org.apache.iceberg.Schema, m: org.apache.iceberg.shaded.org.apache.parquet.schema.MessageType) =>
          GenericParquetWriter.create(s, m)
      ).build[PeerRecord]()
    rows.foreach(r => appender.add(PeerRecords.toPeer(r, schema)))
    appender.close()
    (path, appender.metrics)
  }

  private def readWithPeer(path: String, schema: Schema): Vector[Record] = {
    val theirs = PeerFiles.schema(schema)
    val rows = Parquet.read(PeerLocal.localInput(path)).project(theirs)
      .createReaderFunc((m: org.apache.iceberg.shaded.org.apache.parquet.schema.MessageType) =>
        GenericParquetReaders.buildReader(theirs, m)
      ).build[PeerRecord]()
    try rows.asScala.toVector.map(PeerRecords.fromPeer(_, schema.asStruct))
    finally rows.close()
  }

  private def comparable(rows: Vector[Record], schema: Schema): Vector[Any] =
    rows.map(PeerRecords.comparable(_, schema.asStruct))

  private def cases(types: Vector[PrimitiveType]): Gen[(Schema, Vector[Record])] = for {
    schema <- RecordGenerators.schema(types).suchThat(ParquetPeerSuite.isStorable)
    // There is at least one row, because Apache Iceberg creates no file for zero rows.
    first <- RecordGenerators.record(schema.asStruct)
    rows <- RecordGenerators.records(schema)
  } yield (schema, first +: rows)

  test(
    "the conversions between table schemas and Parquet schemas are the same as in Apache Iceberg",
    ParquetRules.typesWritten,
    ParquetRules.typesRead
  ) {
    // UUID is excluded, because Apache Iceberg converts a UUID column of a Parquet file to the type fixed[16].
    val types = RecordGenerators.ofVersion2.filter(_ != UuidType) ++ Seq(TimestampNsType, TimestampTzNsType)
    val schemas = RecordGenerators.schema(types)
    forAll(schemas) { schema =>
      val file = ParquetSchemas.of(schema)
      assert(file.toString == ParquetSchemaUtil.convert(PeerFiles.schema(schema), "table").toString)
      val theirs = ParquetSchemaUtil.convert(PeerParser.parseMessageType(file.toString))
      assert(PeerFiles.schema(SchemaOfParquet.of(file)).asStruct == theirs.asStruct)
      val noIds = ParquetPeerSuite.withoutIds(file)
      val fallback = ParquetSchemaUtil.convert(PeerParser.parseMessageType(noIds.toString))
      assert(
        PeerFiles.schema(SchemaOfParquet.of(noIds)).columns.asScala.map(_.fieldId) == fallback.columns.asScala.map(
          _.fieldId
        )
      )
    }
  }

  test("Apache Iceberg reads the rows that this library writes", ParquetRules.valuesKept) {
    forAll(cases(RecordGenerators.all.filter(_ != VariantType))) { case (schema, rows) =>
      val file = write(schema, rows, modes(schema, Full))
      assert(file.recordCount == rows.size && file.fileSizeInBytes == new File(file.path).length)
      assert(comparable(readWithPeer(file.path, schema), schema) == comparable(rows, schema))
    }
  }

  test("this library reads the rows that Apache Iceberg writes", ParquetRules.valuesKept) {
    forAll(cases(RecordGenerators.all)) { case (schema, rows) =>
      val (path, _) = writeWithPeer(schema, rows, MetricsConfig.getDefault)
      assert(comparable(read(path, schema), schema) == comparable(rows, schema))
    }
  }

  /** Generates a projection with some fields of every struct, possibly in reverse order. */
  private def projectionOf(struct: StructType): Gen[StructType] = for {
    kept <- Gen.someOf(struct.fields).map(_.toVector)
    fields = if (kept.isEmpty) struct.fields.take(1) else kept
    parts <- Gen.sequence[Vector[NestedField], NestedField](fields.map(f =>
      projectionOf(f.fieldType).map(t => f.copy(fieldType = t))
    ))
    reversed <- Gen.oneOf(true, false)
  } yield StructType(if (reversed) parts.reverse else parts)

  private def projectionOf(t: Type): Gen[Type] = t match {
    case struct: StructType => projectionOf(struct)
    case list: ListType => projectionOf(list.element).map(e => list.copy(element = e))
    case map: MapType => projectionOf(map.value).map(v => map.copy(value = v))
    case primitive => primitive
  }

  test(
    "Apache Iceberg reads the same rows for a projection of columns",
    ParquetRules.columnsById,
    ParquetRules.missingColumns
  ) {
    val projections = for {
      (schema, rows) <- cases(RecordGenerators.ofVersion2)
      some <- projectionOf(schema.asStruct)
      added = optional(schema.highestFieldId + 1, "added", LongType)
    } yield (schema, rows, Schema(0, added +: some.fields))
    forAll(projections) { case (schema, rows, projection) =>
      val file = write(schema, rows, modes(schema, Full))
      val rowsOfPeer = readWithPeer(file.path, projection)
      assert(comparable(read(file.path, projection), projection) == comparable(rowsOfPeer, projection))
    }
  }

  private def configOf(mode: MetricsMode, schema: Schema): MetricsConfig = {
    val properties = Map("write.metadata.metrics.default" -> mode.toString)
    MetricsConfig.from(properties.asJava, PeerFiles.schema(schema), org.apache.iceberg.SortOrder.unsorted())
  }

  private def assertSame(ours: Metrics, theirs: PeerMetrics, schema: Schema): Unit = {
    def counts(map: java.util.Map[Integer, java.lang.Long]): Map[Int, Long] =
      Option(map).fold(Map.empty[Int, Long])(_.asScala.map { case (k, v) => k.intValue -> v.longValue }.toMap)
    def bounds(map: java.util.Map[Integer, ByteBuffer]): Map[Int, String] =
      Option(map).fold(Map.empty[Int, String])(_.asScala.map { case (k, v) => k.intValue -> hex(v) }.toMap).filterKeys(
        isBounded
      ).toMap
    def hex(bytes: ByteBuffer): String = RecordGenerators.comparable(bytes.duplicate()).toString
    // Apache Iceberg writes no bounds of columns of type geography.
    def isBounded(id: Int): Boolean = !schema.byId(id).fieldType.isInstanceOf[GeographyType]
    def boundsOf(map: Option[Map[Int, ByteBuffer]]): Map[Int, String] =
      map.get.collect { case (k, v) if isBounded(k) => k -> hex(v) }
    withClue(s"$schema: ") {
      assert(ours.valueCounts.get == counts(theirs.valueCounts), "value counts")
      assert(ours.nullValueCounts.get == counts(theirs.nullValueCounts), "null counts")
      assert(ours.nanValueCounts.get == counts(theirs.nanValueCounts), "nan counts")
      assert(ours.columnSizes.get.keySet == counts(theirs.columnSizes).keySet, "sizes")
      assert(boundsOf(ours.lowerBounds) == bounds(theirs.lowerBounds), "lower")
      assert(boundsOf(ours.upperBounds) == bounds(theirs.upperBounds), "upper")
    }
  }

  private val allModes: Seq[MetricsMode] = Seq(NoMetrics, Counts, Truncate(1), Truncate(3), Truncate(16), Full)

  test(
    "in all metrics modes, the metrics of the same rows equal Apache Iceberg's, except for bounds of geographies",
    MetricsRules.sameAsApacheIceberg,
    MetricsRules.spatialBounds,
    MetricsRules.modes,
    MetricsRules.nans,
    MetricsRules.zeros,
    MetricsRules.uuids
  ) {
    forAll(cases(RecordGenerators.all.filter(_ != VariantType)), Gen.oneOf(allModes)) { case ((schema, rows), mode) =>
      val config = configOf(mode, schema)
      val file = write(schema, rows, modes(schema, mode))
      val (_, theirs) = writeWithPeer(schema, rows, config)
      assert(theirs.recordCount == file.recordCount)
      assertSame(file.metrics, theirs, schema)
    }
  }

  test(
    "Apache Iceberg computes the same metrics from the footer of a file of this library without floating-point columns",
    MetricsRules.sameAsApacheIceberg
  ) {
    val types = RecordGenerators.ofVersion2.filterNot(t => t == FloatType || t == DoubleType)
    forAll(cases(types), Gen.oneOf(allModes)) { case ((schema, rows), mode) =>
      val config = configOf(mode, schema)
      val file = write(schema, rows, modes(schema, mode))
      assertSame(file.metrics, ParquetUtil.fileMetrics(PeerLocal.localInput(file.path), config), schema)
    }
  }

  test(
    "the metrics modes of a table's columns equal those of Apache Iceberg",
    MetricsRules.inferredColumns,
    MetricsRules.modes
  ) {
    val properties = Gen.mapOf(Gen.oneOf(
      Gen.oneOf("none", "counts", "truncate(4)", "full").map("write.metadata.metrics.default" -> _),
      Gen.choose(0, 12).map(n => "write.metadata.metrics.max-inferred-column-defaults" -> n.toString),
      Gen.oneOf("none", "counts", "truncate(7)", "full").flatMap { m =>
        Gen.choose(0, 5).map(i => s"#$i" -> m)
      }
    ))
    forAll(RecordGenerators.schema(RecordGenerators.ofVersion2), properties, Gen.choose(0, 9)) {
      (schema, chosen, sortColumn) =>
        val leaves = schema.byId.values.filter(_.fieldType.isInstanceOf[PrimitiveType]).map(_.id).toVector.sorted
        val set = chosen.map { case (k, v) =>
          if (k.startsWith("#")) {
            s"write.metadata.metrics.column.${schema.names(leaves(k.drop(1).toInt % leaves.size))}" -> v
          } else k -> v
        }
        val sortable = schema.fields.filter(_.fieldType.isInstanceOf[PrimitiveType])
        val order =
          if (sortColumn == 0 || sortable.isEmpty) SortOrder.Unsorted
          else SortOrder(
            1,
            Vector(SortField(
              Vector(sortable(sortColumn % sortable.size).id),
              Identity,
              SortDirection.Ascending,
              NullOrder.NullsFirst
            ))
          )
        val theirs = PeerFiles.schema(schema)
        val config = MetricsConfig.from(
          set.asJava,
          theirs,
          SortOrderParser.fromJson(theirs, SortOrderJson.toJson(order))
        )
        val ours = MetricsModes.of(set, schema, order)
        leaves.foreach { id =>
          withClue(s"column ${schema.names(id)}, schema $schema, properties $set, sort order $order: ") {
            assert(ours.of(id).toString == config.columnMode(theirs.findColumnName(id)).toString)
          }
        }
    }
  }

  test("the bounds of a position delete file equal those of Apache Iceberg", MetricsRules.deleteFiles) {
    val schema = Schema(0, Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition))
    val path = "s3://bucket/a/very/long/path/of/a/data/file/" + "x" * 100 + ".parquet"
    val rows = (0 until 10).map(i => Record.of(path, i.toLong))
    val modes = MetricsModes.ofPositionDeletes(MetricsModes(Map.empty))
    val file = write(schema, rows, modes)
    val (_, theirs) = writeWithPeer(schema, rows, MetricsConfig.forPositionDelete())
    assertSame(file.metrics, theirs, schema)
    assert(file.metrics.upperBound(MetadataColumns.DeleteFilePath.id).contains(ByteBuffer.wrap(path.getBytes)))
  }

  test(
    "a file of Apache Iceberg with a variant is read, with and without projecting the variant",
    ParquetRules.newerTypes,
    ParquetRules.variantParts
  ) {
    val schema = Schema(0, Vector(required(1, "id", LongType), optional(2, "v", VariantType)))
    forAll(Gen.nonEmptyListOf(RecordGenerators.record(schema.asStruct)).map(_.toVector)) { rows =>
      val (path, _) = writeWithPeer(schema, rows, MetricsConfig.getDefault)
      assert(comparable(read(path, schema), schema) == comparable(rows, schema))
      val others = Schema(0, schema.fields.take(1))
      assert(comparable(read(path, others), others) == rows.map(r => Vector(RecordGenerators.comparable(r(0)))))
    }
  }

  test("Apache Iceberg reads the variants that this library writes", ParquetRules.variantParts) {
    val schema = Schema(0, Vector(required(1, "id", LongType), optional(2, "v", VariantType)))
    forAll(RecordGenerators.records(schema)) { rows =>
      val file = write(schema, rows, modes(schema, Full))
      assert(comparable(readWithPeer(file.path, schema), schema) == comparable(rows, schema))
    }
  }

  test(
    "a file without field ids is read as in Apache Iceberg",
    ParquetRules.positionIds,
    ParquetRules.mappedNames
  ) {
    val rows = Vector(Record.of(1, "a"), Record.of(null, "b"))
    val path = ParquetPeerSuite.withoutIds(newPath())
    val renamed = Schema(0, Vector(optional(2, "text", StringType), optional(1, "number", IntType)))
    assert(comparable(read(path, renamed), renamed) == comparable(readWithPeer(path, renamed), renamed))
    assert(read(path, renamed) == rows.map(r => Record.of(r(1), r(0))))
    assert(Files.exists(java.nio.file.Paths.get(path)))
  }
}

private object ParquetPeerSuite {
  import org.apache.hadoop.fs.Path
  import org.apache.parquet.example.data.simple.SimpleGroupFactory
  import org.apache.parquet.hadoop.example.ExampleParquetWriter
  import org.apache.parquet.schema.{MessageType, MessageTypeParser}

  /** Returns whether every struct has a field that Parquet can store. Fields of type `unknown` are not stored. */
  def isStorable(schema: Schema): Boolean = {
    def stored(t: Type): Boolean = t match {
      case s: StructType => s.fields.exists(_.fieldType != UnknownType) && s.fields.forall(f => stored(f.fieldType))
      case n: NestedType => n.fields.forall(f => stored(f.fieldType))
      case _ => true
    }
    stored(schema.asStruct)
  }

  def withoutIds(schema: MessageType): MessageType = {
    val text = schema.toString.replaceAll(" = [0-9]+(?=[ ;])", "")
    MessageTypeParser.parseMessageType(text)
  }

  def withoutIds(path: String): String = {
    val schema = MessageTypeParser.parseMessageType("message m { optional int32 a; optional binary b (STRING); }")
    val writer =
      ExampleParquetWriter.builder(new Path(path)).withType(schema).withConf(new Configuration(false)).build()
    val groups = new SimpleGroupFactory(schema)
    writer.write(groups.newGroup().append("a", 1).append("b", "a"))
    writer.write(groups.newGroup().append("b", "b"))
    writer.close()
    path
  }
}
