package iceberglite.table

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.conformance.MetadataRules
import iceberglite.scan.TableScan
import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.IcebergError.{Unsupported, ValidationFailed}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.{Encryption, TableMetadata}
import iceberglite.table.action.{FastAppend, UpdateProperties}

class TableSuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")

  /** Returns a table that was loaded with the given metadata. A refresh of the table loads the metadata `newest`. */
  private def table(metadata: TableMetadata, newest: TableMetadata): Table = {
    val committer = new Committer {
      override def load(id: TableIdentifier): TableVersion = TableVersion(newest, "v2.metadata.json")
      override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
        load(id).copy(metadata = NextVersion.of(id.toString, base, change, SampleTables.CreatedMs).metadata)
    }
    new Table(id, "c.db.t", TableVersion(metadata, "v1.metadata.json"), new MemoryFileIO, committer)
  }

  test("a refresh fails if the name now belongs to a table with another UUID", MetadataRules.uuid) {
    val old = SampleTables.empty(FormatVersion.V2)
    assert(table(old, SampleTables.withHistory(FormatVersion.V2)).refresh().currentSnapshot.isDefined)
    val error = intercept[ValidationFailed](table(old, old.edited(uuid = Some(new UUID(1, 2)))).refresh())
    assert(error.getMessage.contains("c.db.t was dropped or replaced in the meantime"))
    val first = old.edited(formatVersion = FormatVersion.V1, uuid = None)
    assert(table(first, old).refresh().metadata == old)
  }

  test(
    "reading or writing files of an encrypted table without its keys is rejected, and changing properties is allowed",
    MetadataRules.encryption
  ) {
    val encrypted = SampleTables.withHistory(FormatVersion.V3).edited(
      properties = Map(Encryption.KeyIdProperty -> "key-7")
    )
    val t = table(encrypted, encrypted)
    val scan = TableScan(t.tree(), t.currentSnapshot, AlwaysTrue, caseSensitive = true)
    assert(intercept[Unsupported](scan.plan()).getMessage.contains("key-7"))
    intercept[Unsupported](t.transaction().add(new FastAppend(Vector(TestTables.file("f.parquet")))).commit())
    val changed = t.transaction().add(new UpdateProperties(Map("a" -> "b"), Set.empty)).commit()
    assert(changed.properties("a") == "b")
  }
}
