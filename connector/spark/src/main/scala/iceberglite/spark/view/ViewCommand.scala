package iceberglite.spark.view

import org.apache.spark.sql.execution.command.LeafRunnableCommand

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.spec.view.ViewMetadata

/** A command about one view. */
private[view] trait ViewCommand extends LeafRunnableCommand with ErrorBoundary {
  def view: ViewName

  override protected def errorName: String = view.toString

  /** Returns the view's metadata. @throws NotFound if there is no view with the name */
  protected def metadata: ViewMetadata = view.find().getOrElse(throw notFound).metadata

  protected def notFound: NotFound =
    NotFound(ObjectKind.View, view.toString, s"List the views with SHOW VIEWS IN ${view.parts.init.mkString(".")}")
}
