package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.spark.conf.TimeTravel
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.Action
import iceberglite.table.action.RemoveRef

/** `ALTER TABLE t DROP BRANCH [IF EXISTS] name`, and the same statement for a TAG. */
final case class DropRef(table: Seq[String], kind: RefKind, name: String, ifExists: Boolean) extends TableCommand {

  override protected def loadsNewestVersion: Boolean = true

  override protected def actions(base: TableMetadata, caseSensitive: Boolean): Seq[Action] = {
    val existing = base.refs.get(name)
    existing.foreach(kind.check(name, _))
    if (existing.isEmpty && !ifExists) {
      throw NotFound(
        kind.objectKind,
        name,
        s"Use IF EXISTS to drop it only if it exists. ${TimeTravel.knownRefs(base)}"
      )
    }
    existing.map(_ => new RemoveRef(name)).toSeq
  }
}

object DropRef {
  final class Statement(kind: RefKind) extends AlterTableStatement {
    override val words: Seq[String] = Seq("DROP", kind.word)

    override def parse(table: Seq[String], reader: SqlReader): LogicalPlan = {
      val ifExists = reader.skip("IF", "EXISTS")
      DropRef(table, kind, reader.identifier(s"the name of a ${kind.name}"), ifExists)
    }
  }
}
