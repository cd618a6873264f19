package iceberglite.table.action

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.CommitConflict
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedType
import iceberglite.spec.types.Type.canPromote
import iceberglite.spec.update.SchemaChanges
import iceberglite.spec.update.Requirement.AssertCurrentSchemaId
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Merges the columns of written rows into the table's schema, in the same commit as the rows. Missing columns are
 * added, and a column whose type is wider in the rows gets the wider type (see `SchemaChanges.unionByNameWith`).
 *
 * The written files use the column ids of `planned`. If the table's schema has changed concurrently, the commit
 * succeeds only if the columns of the merged schema have the same ids and names as in `planned`, and types with which
 * the written files can be read. This is the case, for example, if the other writers merged the same columns.
 *
 * @param planned the schema that the files were written with
 * @param rows the columns of the rows, which are matched by name
 */
final class MergeSchema(planned: Schema, rows: Schema, caseSensitive: Boolean) extends MetadataAction {

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val mergedSchema = MergeSchema.mergedSchema(base, rows, caseSensitive)
    planned.byId.keys.toSeq.sorted.find(id => !isReadable(id, mergedSchema, base.formatVersion)).foreach { id =>
      throw CommitConflict(
        context.table,
        s"its columns were changed concurrently, so that the written files have another id, name or type for column " +
          s"${planned.names(id)} than the table"
      )
    }
    if (mergedSchema == base.schema) Change(Vector.empty, Vector(AssertCurrentSchemaId(base.currentSchemaId)))
    else new UpdateSchema(_.unionByNameWith(rows), caseSensitive).changeFor(base, context)
  }

  /** Returns whether a column still has its name, and a type that the written files can be read with. */
  private def isReadable(id: Int, mergedSchema: Schema, version: FormatVersion): Boolean =
    mergedSchema.byId.get(id).exists { column =>
      val typeFits = (planned.byId(id).fieldType, column.fieldType) match {
        case (_: NestedType, _: NestedType) => true
        case (written, merged) => canPromote(written, merged, version)
      }
      typeFits && planned.paths(id) == mergedSchema.paths(id)
    }
}

object MergeSchema {

  /**
   * Returns the schema after a merge. The result is equal to the table's schema if the rows have no new columns and no
   * wider types.
   *
   * @throws iceberglite.spec.IcebergError if two columns of the same name have incompatible types
   */
  def mergedSchema(base: TableMetadata, rows: Schema, caseSensitive: Boolean): Schema =
    SchemaChanges(base, caseSensitive).unionByNameWith(rows).result._1
}
