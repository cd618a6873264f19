package iceberglite.peer

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.iceberg.TableMetadataParser
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.TestMetadata._
import iceberglite.conformance.JsonRules
import iceberglite.spec.{FormatVersion, IcebergError, SampleTables}
import iceberglite.spec.json.{MetadataGenerators, TableMetadataJson}
import iceberglite.spec.metadata.{MetadataLogEntry, Operation, Snapshot, SnapshotLogEntry, SnapshotRef, TableMetadata}
import iceberglite.spec.partition.{
  Identity,
  NullOrder,
  PartitionField,
  PartitionSpec,
  SortDirection,
  SortField,
  SortOrder,
  Transform,
  UnknownTransform,
  Void
}
import iceberglite.spec.schema.Schema

/** Tests that iceberg-lite and Apache Iceberg read each other's JSON of table metadata. */
class TableMetadataJsonPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def throughPeer(m: TableMetadata): TableMetadata = {
    val peers = TableMetadataParser.fromJson(new String(TableMetadataJson.write(m), UTF_8))
    TableMetadataJson.read("peer", TableMetadataParser.toJson(peers))
  }

  /**
   * Generates table metadata that Apache Iceberg supports. Therefore partition and sort fields have one source column,
   * partition fields have a name, and snapshot summaries have an operation.
   */
  private val tables: Gen[TableMetadata] = MetadataGenerators.table.map { m =>
    m.edited(
      schemas = m.schemas.map(CommonSchema.of),
      specs = m.specs.map(s =>
        s.copy(fields =
          s.fields.map(f =>
            f.copy(
              sourceIds = f.sourceIds.take(1),
              name = s"p ${f.name}",
              transform = validTransform(m.schema, f.sourceId, f.transform)
            )
          )
        )
      ),
      sortOrders = m.sortOrders.map(o =>
        o.copy(fields =
          o.fields.map(f =>
            f.copy(sourceIds = f.sourceIds.take(1), transform = validTransform(m.schema, f.sourceId, f.transform))
          )
        )
      ),
      snapshots = m.snapshots.map(s =>
        s.copy(
          summary = s.summary + (Snapshot.OperationKey -> Operation.Append.name),
          keyId = s.keyId.filter(_ => s.manifestList.isDefined),
          firstRowId = s.firstRowId.filter(_ => s.manifestList.isDefined),
          addedRows = s.addedRows.filter(_ => s.manifestList.isDefined)
        )
      ),
      statistics = m.statistics.map(_.copy(keyMetadata = None)),
      encryptionKeys = m.encryptionKeys.map(_.copy(properties = Map("a" -> "b")))
    )
  }

  /**
   * Replaces a transform that does not accept the type of the source column. Apache Iceberg rejects such transforms
   * even in partition specs that are not used.
   */
  private def validTransform(schema: Schema, source: Int, transform: Transform): Transform =
    if (schema.byId.get(source).forall(f => transform.canTransform(f.fieldType))) transform
    else UnknownTransform("zorder[3]")

  test(
    "random table metadata does not change when Apache Iceberg reads and writes it",
    JsonRules.roundTrip,
    JsonRules.snapshots
  ) {
    forAll(tables)(m => assert(throughPeer(m) == m))
  }

  test("metadata with a history does not change when Apache Iceberg reads and writes it", JsonRules.roundTrip) {
    FormatVersion.adopted.foreach { version =>
      val m = SampleTables.withHistory(version)
      assert(throughPeer(m) == m)
      val empty = SampleTables.empty(version, SampleTables.byBucket)
      assert(throughPeer(empty) == empty)
    }
  }

  test("contradictory metadata that this library rejects is also rejected by Apache Iceberg", JsonRules.strict) {
    val m = SampleTables.withHistory(FormatVersion.V2)
    val droppedField = PartitionField(99, 1000, "gone", Identity)
    val order = SortOrder(1, Vector(SortField(Vector(99), Identity, SortDirection.Ascending, NullOrder.NullsFirst)))
    val time = m.lastUpdatedMs
    Seq(
      m.edited(schemas = m.schemas ++ m.schemas),
      m.edited(specs = m.specs ++ m.specs),
      m.edited(snapshots = m.snapshots :+ m.snapshots.head),
      m.edited(lastSequenceNumber = 2),
      m.edited(snapshotLog = Vector(SnapshotLogEntry(time, 1), SnapshotLogEntry(time - 60001, 2))),
      m.edited(metadataLog = Vector(MetadataLogEntry(time + 60001, "x"))),
      m.edited(refs = m.refs + ("t" -> SnapshotRef.Tag(99))),
      m.edited(refs = m.refs + ("t" -> SnapshotRef.Tag(1, Some(0)))),
      m.edited(currentSnapshotId = Some(1)),
      m.edited(currentSnapshotId = Some(99), refs = Map.empty),
      m.edited(currentSchemaId = 7),
      m.edited(specs = Vector(PartitionSpec(0, Vector(droppedField)))),
      m.edited(sortOrders = Vector(order), defaultSortOrderId = 1),
      m.edited(uuid = None)
    ).zipWithIndex.foreach { case (broken, i) =>
      val json = new String(TableMetadataJson.write(broken), UTF_8)
      intercept[IcebergError.InvalidMetadata](TableMetadataJson.read("f", json))
      assert(scala.util.Try(TableMetadataParser.fromJson(json)).isFailure, s"contradiction $i")
    }
    val dropped = m.edited(specs = Vector(PartitionSpec(0, Vector(droppedField.copy(transform = Void)))))
    assert(throughPeer(dropped) == dropped)
  }
}
