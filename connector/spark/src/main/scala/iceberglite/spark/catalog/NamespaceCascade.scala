package iceberglite.spark.catalog

import scala.util.control.NonFatal

import iceberglite.catalog.{Catalog, ViewCatalog}
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.table.TableIdentifier

/**
 * Drops a namespace together with its contents: first the namespaces in it, then its views, then its tables, and then
 * the namespace itself. Each object is dropped separately. After a failure, the objects that were dropped before remain
 * dropped. The error lists up to 20 dropped objects, and up to 20 other objects.
 *
 * @param catalogName the name of the catalog in the session
 * @param dropTable drops a table, as DROP TABLE without PURGE does
 */
final private[catalog] class NamespaceCascade(
    catalog: Catalog,
    catalogName: String,
    dropTable: TableIdentifier => Unit
) {

  import NamespaceCascade._

  /** @throws ValidationFailed if an object cannot be dropped */
  def drop(namespace: Vector[String]): Unit = {
    val steps = stepsFor(namespace)
    steps.indices.foreach { i =>
      try steps(i).run()
      catch { case NonFatal(cause) => throw stopped(namespace, steps.take(i), steps(i), steps.drop(i + 1), cause) }
    }
  }

  private def stepsFor(namespace: Vector[String]): Vector[Step] = {
    val children = catalog.listNamespaces(namespace).sortBy(_.mkString(".")).flatMap(stepsFor)
    val tables = catalog.listTables(namespace).sortBy(_.name)
      .map(id => step("table", id.namespace :+ id.name, () => dropTable(id)))
    children ++ viewSteps(namespace) ++ tables :+ step("namespace", namespace, () => dropEmpty(namespace))
  }

  private def step(noun: String, name: Vector[String], run: () => Unit): Step =
    Step(s"$noun ${(catalogName +: name).mkString(".")}", run)

  private def viewSteps(namespace: Vector[String]): Vector[Step] = catalog match {
    case views: ViewCatalog =>
      views.listViewsIfSupported(namespace).sortBy(_.name).map { id =>
        step("view", id.namespace :+ id.name, () => dropView(views, id))
      }
    case _ => Vector.empty
  }

  private def dropView(views: ViewCatalog, id: TableIdentifier): Unit = {
    views.dropView(id)
    ()
  }

  private def dropEmpty(namespace: Vector[String]): Unit = {
    catalog.dropNamespace(namespace)
    ()
  }

  private def stopped(
      namespace: Vector[String],
      done: Vector[Step],
      failed: Step,
      remaining: Vector[Step],
      cause: Throwable
  ): ValidationFailed = {
    def list(label: String, steps: Vector[Step]) =
      if (steps.isEmpty) ""
      else s" $label: ${steps.take(MaxShown).mkString(", ")}" +
        (if (steps.size > MaxShown) s" and ${steps.size - MaxShown} more." else ".")
    val error = ValidationFailed(
      s"DROP NAMESPACE ${(catalogName +: namespace).mkString(".")} CASCADE stopped at the $failed: " +
        s"${cause.getMessage}." + list("Dropped before", done) + list("Not dropped", failed +: remaining) +
        " Correct the cause and run the statement again"
    )
    error.addSuppressed(cause)
    error
  }
}

private object NamespaceCascade {

  /** Maximum number of objects in an error message. */
  private val MaxShown = 20

  /** An object to drop. @param description the kind and the full name of the object */
  final private case class Step(description: String, run: () => Unit) {
    override def toString: String = description
  }
}
