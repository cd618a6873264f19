package iceberglite.processes

import iceberglite.catalog.{Catalog, Catalogs, ViewCatalog, ViewDefinition, ViewOperations}
import iceberglite.processes.WriterFiles.printLine
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.LongType
import iceberglite.spec.view.ViewRepresentation
import iceberglite.table.Environment

/** A program that replaces a view, with the arguments and the output of [[WriterProcess]]. */
object ViewWriterProcess {
  private val schema = Schema(0, Vector(NestedField.optional(1, "n", LongType)))

  def main(args: Array[String]): Unit = {
    val Array(settings, writer, commits, step) = args
    val properties = WriterFiles.read(settings)
    val dying = new DyingFileIO(Writers.storage(properties), step.toInt)
    val catalog = open(Catalogs.open("lite", properties, dying, Environment.system))
    val views = new ViewOperations(catalog)
    printLine("READY")
    (1 to commits.toInt).foreach { i =>
      val query = s"$writer-$i"
      printLine(s"BEGIN $query")
      try {
        views.replace(Writers.Id, define(query), Map.empty)
        dying.step()
        printLine(s"DONE $query")
      } catch {
        case unknown: CommitStateUnknown => printLine(s"UNKNOWN $query ${unknown.getMessage}")
        case failure: IcebergError => printLine(s"FAILED $query ${failure.getMessage}")
      }
    }
    catalog.close()
    printLine("END")
    // Background threads of a client must not keep the process alive.
    System.exit(0)
  }

  /** Returns the catalog, which must support views. */
  def open(catalog: Catalog): ViewCatalog = catalog match {
    case views: ViewCatalog => views
    case other => throw new IllegalArgumentException(s"$other does not support views")
  }

  def define(query: String): ViewDefinition =
    ViewDefinition(schema, ViewRepresentation.Sql(query, "spark"), Map.empty, None, Vector("db"))
}
