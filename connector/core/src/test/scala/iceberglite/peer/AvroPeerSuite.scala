package iceberglite.peer

import java.io.File

import scala.collection.JavaConverters._

import org.apache.iceberg.{Files => PeerLocal, Metrics => PeerMetrics, MetricsConfig}
import org.apache.iceberg.avro.{Avro, AvroSchemaUtil}
import org.apache.iceberg.data.{Record => PeerRecord}
import org.apache.iceberg.data.avro.{DataWriter, PlannedDataReader}
import org.apache.iceberg.mapping.NameMappingParser
import org.apache.iceberg.shaded.org.apache.avro.{Schema => PeerAvro}

import iceberglite.avro.AvroSchemas
import iceberglite.conformance.FormatRules
import iceberglite.data.{Record, RecordGenerators}
import iceberglite.data.avro.{AvroData, AvroWithoutIds}
import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type.VariantType

/** Compares how iceberg-lite and Apache Iceberg read and write Avro files. */
class AvroPeerSuite extends RowFilesPeerTests(AvroData) {

  /** Variants are excluded, because Apache Iceberg cannot read lists of variants from Avro files. */
  override protected def types: Vector[PrimitiveType] = RecordGenerators.all.filter(_ != VariantType)

  override protected def peerReadsDefaults: Boolean = true

  override protected def writeWithPeer(
      path: String,
      schema: Schema,
      rows: Seq[Record],
      config: MetricsConfig
  ): () => PeerMetrics = {
    val appender = Avro.write(PeerLocal.localOutput(new File(path))).schema(PeerFiles.schema(schema)).named("table")
      .metricsConfig(config).createWriterFunc((s: PeerAvro) => DataWriter.create[PeerRecord](s)).build[PeerRecord]()
    rows.foreach(r => appender.add(PeerRecords.toPeer(r, schema)))
    appender.close()
    () => appender.metrics
  }

  override protected def readWithPeer(path: String, schema: Schema, mapping: Option[NameMapping]): Vector[Record] = {
    val builder = Avro.read(PeerLocal.localInput(path)).project(PeerFiles.schema(schema))
      .createResolvingReader((s: org.apache.iceberg.Schema) => PlannedDataReader.create[PeerRecord](s))
    mapping.foreach(m => builder.withNameMapping(NameMappingParser.fromJson(NameMappingJson.toJson(m))))
    val rows = builder.build[PeerRecord]()
    try rows.asScala.toVector.map(PeerRecords.fromPeer(_, schema.asStruct))
    finally rows.close()
  }

  override protected def writeWithoutIds(path: String, schema: Schema, rows: Seq[Record]): Unit =
    AvroWithoutIds.write(io, path, schema, rows)

  test(
    "the Avro schema of a table equals that of Apache Iceberg, except for non-ASCII names",
    FormatRules.avroTypes,
    FormatRules.avroIds,
    FormatRules.avroMaps,
    FormatRules.avroNulls
  ) {
    forAll(RecordGenerators.schema()) { schema =>
      val ascii = schema.names.values.forall(_.forall(_ < 128))
      if (ascii) {
        val theirs = AvroSchemaUtil.convert(PeerFiles.schema(schema), "table")
        assert(new PeerAvro.Parser().parse(AvroSchemas.of(schema.asStruct, "table").toString) == theirs)
      }
    }
  }

  test("Avro files have no column sizes; Apache Iceberg's metrics have only the record count", FormatRules.avroSizes) {
    forAll(cases) { case (schema, rows) =>
      val theirs = writeWithPeer(newPath(), schema, rows, MetricsConfig.getDefault)()
      val ours = write(schema, rows)
      assert(ours.recordCount == theirs.recordCount)
      assert(Option(theirs.columnSizes).isEmpty && Option(theirs.valueCounts).isEmpty)
      assert(ours.metrics.columnSizes.isEmpty && ours.metrics.valueCounts.exists(_.keySet == columns(
        schema,
        _ => true
      )))
    }
  }
}
