package iceberglite.table.action

import iceberglite.spec.IcebergError.CommitConflict
import iceberglite.spec.Requirement.AssertCurrentSchemaId
import iceberglite.spec.Type.canPromote
import iceberglite.spec.{FormatVersion, NestedType, Schema, SchemaUpdate, TableMetadata}
import iceberglite.table.{Change, CommitContext}

/**
 * Merges the columns of rows that were written into those of the table, in the commit of the rows: what the table lacks
 * is added, what is wider in the rows is widened (see `SchemaUpdate.unionByNameWith`).
 *
 * The files hold the columns under the ids of `planned`. Where others have changed the table's columns meanwhile, it
 * can be committed if merging leads to these ids there too, as it does when they have merged the same columns.
 *
 * @param planned the columns as the files were written by
 * @param rows the columns of the rows, by name
 */
final class MergeSchema(planned: Schema, rows: Schema, caseSensitive: Boolean) extends MetadataAction {

  override def describe(base: TableMetadata, context: CommitContext): Change = {
    val merged = MergeSchema.merged(base, rows, caseSensitive)
    planned.byId.keys.toSeq.sorted.find(id => !isTheSame(id, merged, base.formatVersion)).foreach { id =>
      throw CommitConflict(
        context.table,
        s"its columns were changed, and column ${planned.names(id)} would not be the one that the files have. Write " +
          "the rows again"
      )
    }
    if (merged == base.schema) Change(Vector.empty, Vector(AssertCurrentSchemaId(base.currentSchemaId)))
    else new UpdateSchema(_.unionByNameWith(rows), caseSensitive).describe(base, context)
  }

  /** Whether a column has its name, and a type that its files can be read in. */
  private def isTheSame(id: Int, merged: Schema, version: FormatVersion): Boolean =
    merged.byId.get(id).exists { now =>
      val typeFits = (planned.byId(id).fieldType, now.fieldType) match {
        case (_: NestedType, _: NestedType) => true
        case (written, known) => canPromote(written, known, version)
      }
      typeFits && planned.paths(id) == merged.paths(id)
    }
}

object MergeSchema {

  /**
   * The columns of a table after a merge: its own, where the rows have nothing more.
   *
   * @throws iceberglite.spec.IcebergError where a column of one name has types that do not go together
   */
  def merged(base: TableMetadata, rows: Schema, caseSensitive: Boolean): Schema =
    SchemaUpdate(base, caseSensitive).unionByNameWith(rows).result._1
}
