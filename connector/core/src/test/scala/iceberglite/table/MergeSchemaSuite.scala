package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.SampleTables
import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.IcebergError.{CommitConflict, ValidationFailed}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type.{IntType, LongType, StringType}
import iceberglite.spec.update.{MetadataUpdate, SchemaChanges}
import iceberglite.spec.update.Requirement.AssertCurrentSchemaId
import iceberglite.table.action.{MergeSchema, UpdateSchema}

/** Tests [[iceberglite.table.action.MergeSchema]], which adds the columns of written rows to the table's schema. */
class MergeSchemaSuite extends AnyFunSuite {
  private val context = CommitContext(new MemoryFileIO, "lite.db.t", "commit", Map.empty, Environment.system)
  private val table = updated(SampleTables.empty(V2))(_.addColumn(Vector.empty, "n", IntType))

  private def updated(base: TableMetadata)(edit: SchemaChanges => SchemaChanges): TableMetadata =
    MetadataUpdate.applyAll(base, new UpdateSchema(edit).changeFor(base, context).updates, base.lastUpdatedMs)

  private val rows = Schema(0, Vector(required(1, "n", LongType), optional(2, "more", StringType)))
  private val planned = MergeSchema.mergedSchema(table, rows, caseSensitive = true)

  /**
   * Applies a concurrent schema change to `table`, then commits the merge that was planned before it. Returns the
   * resulting schema.
   */
  private def committed(concurrent: SchemaChanges => SchemaChanges): Schema = {
    val base = updated(table)(concurrent)
    val change = new MergeSchema(planned, rows, caseSensitive = true).changeFor(base, context)
    assert(change.requirements.contains(AssertCurrentSchemaId(base.currentSchemaId)))
    MetadataUpdate.applyAll(base, change.updates, base.lastUpdatedMs).schema
  }

  private def conflict(concurrent: SchemaChanges => SchemaChanges): String =
    intercept[CommitConflict](committed(concurrent)).getMessage

  test("columns are added and widened, with the field ids that the written files use") {
    val change = new MergeSchema(planned, rows, caseSensitive = true).changeFor(table, context)
    val after = MetadataUpdate.applyAll(table, change.updates, table.lastUpdatedMs)
    assert(after.schema.fields == planned.fields && after.lastColumnId == table.lastColumnId + 1)
    assert(after.schema.find("n").exists(n => n.fieldType == LongType && n.optional))
    assert(after.schema.find("more").map(_.id).contains(table.lastColumnId + 1))
  }

  test("columns that a concurrent commit has already merged are not merged again") {
    val merged = updated(table)(_.unionByNameWith(rows))
    val change = new MergeSchema(planned, rows, caseSensitive = true).changeFor(merged, context)
    assert(change.updates.isEmpty && change.requirements == Vector(AssertCurrentSchemaId(merged.currentSchemaId)))
  }

  test("concurrent schema changes that do not affect the field ids in the written files are tolerated") {
    assert(committed(_.updateType(Vector("n"), LongType)).find("more").isDefined)
    assert(committed(_.updateDoc(Vector("n"), Some("number"))).find("n").flatMap(_.doc).contains("number"))
    assert(committed(_.addColumn(Vector.empty, "more", StringType)).fields.count(_.name == "more") == 1)
  }

  test("a commit is rejected if a concurrent schema change affects a field id or a column of the written files") {
    assert(conflict(_.addColumn(Vector.empty, "other", StringType)).contains("name or type for column more"))
    assert(conflict(_.dropColumn(Vector("n"))).contains("another id, name or type for column n"))
    assert(conflict(_.renameColumn(Vector("n"), "number")).contains("another id, name or type for column n"))
  }

  test("columns with incompatible types are rejected") {
    val text = Schema(0, Vector(optional(1, "n", StringType)))
    intercept[ValidationFailed](MergeSchema.mergedSchema(table, text, caseSensitive = true))
    intercept[ValidationFailed](committed(_.addColumn(Vector.empty, "more", IntType)))
  }
}
