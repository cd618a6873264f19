package iceberglite.peer

import java.io.File

import scala.collection.JavaConverters._

import org.apache.iceberg.{Files => PeerLocal, Metrics => PeerMetrics, MetricsConfig}
import org.apache.iceberg.data.{Record => PeerRecord}
import org.apache.iceberg.data.orc.{GenericOrcReader, GenericOrcWriter}
import org.apache.iceberg.mapping.NameMappingParser
import org.apache.iceberg.orc.ORC
import org.apache.iceberg.shaded.org.apache.orc.{TypeDescription => PeerOrc}
import org.scalacheck.Gen

import iceberglite.conformance.FormatRules
import iceberglite.data.{Record, RecordGenerators}
import iceberglite.data.orc.{OrcData, OrcWithoutIds}
import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.property.MetricsMode.{Counts, Full, NoMetrics, Truncate}
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.spec.types.{PrimitiveType, Type}
import iceberglite.spec.types.Type._

/** Compares how iceberg-lite and Apache Iceberg read and write ORC files, and the metrics that both return. */
class OrcPeerSuite extends RowFilesPeerTests(OrcData) {

  /**
   * The types except geometry and geography, which Apache Iceberg does not support in ORC, and variant. Apache Iceberg
   * does not read lists of variants, and the generated schemas also contain lists.
   */
  override protected def types: Vector[PrimitiveType] = RecordGenerators.all.filter {
    case VariantType | _: GeometryType | _: GeographyType => false
    case _ => true
  }

  override protected def peerReadsDefaults: Boolean = false

  override protected def storedValue(value: AnyRef, t: Type): AnyRef =
    RecordGenerators.withoutLastSecondOf1969(value, t)

  override protected def writeWithPeer(
      path: String,
      schema: Schema,
      rows: Seq[Record],
      config: MetricsConfig
  ): () => PeerMetrics = {
    val theirs = PeerFiles.schema(schema)
    val appender = ORC.write(PeerLocal.localOutput(new File(path))).schema(theirs).metricsConfig(config)
      .createWriterFunc((s: org.apache.iceberg.Schema, t: PeerOrc) => GenericOrcWriter.buildWriter(s, t))
      .build[PeerRecord]()
    rows.foreach(r => appender.add(PeerRecords.toPeer(r, schema)))
    appender.close()
    () => appender.metrics
  }

  override protected def readWithPeer(path: String, schema: Schema, mapping: Option[NameMapping]): Vector[Record] = {
    val theirs = PeerFiles.schema(schema)
    val builder = ORC.read(PeerLocal.localInput(path)).project(theirs)
      .createReaderFunc((t: PeerOrc) => GenericOrcReader.buildReader(theirs, t))
    mapping.foreach(m => builder.withNameMapping(NameMappingParser.fromJson(NameMappingJson.toJson(m))))
    val rows = builder.build[PeerRecord]()
    try rows.asScala.toVector.map(PeerRecords.fromPeer(_, schema.asStruct))
    finally rows.close()
  }

  override protected def writeWithoutIds(path: String, schema: Schema, rows: Seq[Record]): Unit =
    OrcWithoutIds.write(path, schema, rows)

  test(
    "the metrics of the same rows equal Apache Iceberg's, except in optional structs and for metrics that it lacks",
    FormatRules.metrics
  ) {
    val modes = Gen.oneOf[MetricsMode](NoMetrics, Counts, Truncate(1), Truncate(16), Full)
    forAll(cases, modes) { case ((schema, rows), mode) =>
      val config = MetricsConfig.from(
        Map("write.metadata.metrics.default" -> mode.toString).asJava,
        PeerFiles.schema(schema),
        org.apache.iceberg.SortOrder.unsorted()
      )
      // Fields of optional structs are excluded: for ORC files, Apache Iceberg does not count a field as null if it is
      // null because its struct is null.
      val ids = columns(schema, _.required)
      val theirs = writeWithPeer(newPath(), schema, rows, config)()
      val ours = write(schema, rows, mode).metrics
      withClue(s"$mode of $schema: ") {
        assert(ours.valueCounts.get.filterKeys(ids).toMap == counts(theirs.valueCounts, ids))
        assert(ours.nullValueCounts.get.filterKeys(ids).toMap == counts(theirs.nullValueCounts, ids))
        assert(ours.columnSizes.get.keySet.intersect(ids) == counts(theirs.columnSizes, ids).keySet)
        // Apache Iceberg also counts NaN values in lists and maps, so only columns with one value per row are compared.
        assert(ours.nanValueCounts.get.filterKeys(ids).toMap == counts(theirs.nanValueCounts, ids))
        val (lower, upper) =
          (peerBounds(theirs.lowerBounds, schema, ids), peerBounds(theirs.upperBounds, schema, ids))
        // Apache Iceberg has no bounds for columns of the types binary, fixed and UUID, because ORC has no such
        // statistics.
        def withoutBytes(bounds: Map[Int, Any]): Map[Int, Any] =
          bounds.filterKeys(id => ids(id) && !isBytes(schema, id)).toMap
        assert(withoutBytes(values(ours.lowerBounds, schema)) == lower)
        assert(withoutBytes(values(ours.upperBounds, schema)) == upper)
      }
    }
  }

  private def isBytes(schema: Schema, id: Int): Boolean = schema.byId(id).fieldType match {
    case BinaryType | UuidType | _: FixedType => true
    case _ => false
  }
}
