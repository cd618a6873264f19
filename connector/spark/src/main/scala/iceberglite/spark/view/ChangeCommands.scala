package iceberglite.spark.view

import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.error.{ErrorCondition, StatementError}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported, ViewPropertyNotFound}
import iceberglite.spec.ObjectKind

/** `DROP VIEW [IF EXISTS]`. */
final private[view] case class DropIcebergView(view: ViewName, ifExists: Boolean) extends ViewCommand {
  override def run(session: SparkSession): Seq[Row] = in {
    if (!view.views.dropView(view.id)) {
      if (view.catalog.tableExists(view.ident)) throw isTable
      if (!ifExists) throw notFound
    }
    Seq.empty
  }

  private def isTable: StatementError = {
    val error = Unsupported(s"DROP VIEW ${view.sql}", "It is a table. Use DROP TABLE")
    val parameters = Map(
      "operation" -> "DROP VIEW",
      "requiredType" -> "VIEW",
      "objectName" -> view.toString,
      "foundType" -> "TABLE",
      "alternative" -> "DROP TABLE"
    )
    val condition = ErrorCondition("WRONG_COMMAND_FOR_OBJECT_TYPE", "42809", parameters)
    new StatementError(error.getMessage, error, condition)
  }
}

/** `ALTER VIEW ... SET TBLPROPERTIES` and `ALTER VIEW ... UNSET TBLPROPERTIES [IF EXISTS]`. */
final private[view] case class AlterViewProperties(
    view: ViewName,
    set: Map[String, String],
    unset: Seq[String],
    ifExists: Boolean
) extends ViewCommand {
  override def run(session: SparkSession): Seq[Row] = in {
    (set.keySet ++ unset).find(ViewDescription.Reserved).foreach { key =>
      throw InvalidArgument("view property", key, "It is computed from other metadata and cannot be changed")
    }
    val existing = metadata.properties
    unset.find(key => !ifExists && !existing.contains(key)).foreach { key =>
      throw ViewPropertyNotFound(view.toString, key)
    }
    view.operations.alterProperties(view.id, set, unset.toSet)
    Seq.empty
  }
}

/** `ALTER VIEW ... RENAME TO`. */
final private[view] case class RenameIcebergView(view: ViewName, newName: Seq[String]) extends ViewCommand {
  override def run(session: SparkSession): Seq[Row] = in {
    val (catalog, ident) = view.renamed(session, newName)
    if (catalog.name != view.catalog.name) throw Unsupported(
      s"renaming $view to ${newName.mkString(".")}",
      s"A view stays in its catalog. The new name must be in ${view.catalog.name}"
    )
    if (!view.exists) throw notFound
    val target = view.copy(ident = ident)
    if (view.isInSessionCatalog) {
      if (!view.catalog.namespaceExists(ident.namespace)) throw NotFound(
        ObjectKind.Namespace,
        (catalog.name +: ident.namespace).mkString("."),
        "Create the database, or choose another name for the view"
      )
      target.checkUnused()
    }
    view.views.renameView(view.id, target.id)
    Seq.empty
  }
}
