package iceberglite.processes

import iceberglite.catalog.Catalogs
import iceberglite.processes.WriterFiles.printLine
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.table.{Environment, TestTables}
import iceberglite.table.action.FastAppend

/**
 * A program that appends to a table, and may halt at any step of a commit. It prints a line before it creates a file
 * (`WRITES`), at the start of each commit (`BEGIN`), and at the end of the commit (`DONE`, `FAILED` or `UNKNOWN`). If
 * the line for the end of a commit is missing, the outcome of the commit is unknown.
 */
object WriterProcess {

  /**
   * @param args the path of the file with the catalog's properties, the name of the writer, the number of commits, and
   *   the number of the step at which the program halts, counted from 1; 0 if the program does not halt
   */
  def main(args: Array[String]): Unit = {
    val Array(settings, writer, commits, step) = args
    val properties = WriterFiles.read(settings)
    val dying = new DyingFileIO(Writers.storage(properties), step.toInt)
    val catalog = Catalogs.open("lite", properties, dying, Environment.system)
    printLine("READY")
    (1 to commits.toInt).foldLeft(catalog.table(Writers.Id)) { (table, i) =>
      val path = s"$writer-$i"
      printLine(s"BEGIN $path")
      try {
        val committed = table.transaction().add(new FastAppend(Vector(TestTables.file(path)))).commit()
        dying.step()
        printLine(s"DONE $path")
        committed
      } catch {
        case unknown: CommitStateUnknown =>
          printLine(s"UNKNOWN $path ${unknown.getMessage}")
          catalog.table(Writers.Id)
        case failure: IcebergError =>
          printLine(s"FAILED $path ${failure.getMessage}")
          catalog.table(Writers.Id)
      }
    }
    catalog.close()
    printLine("END")
    // Background threads of a client must not keep the process alive.
    System.exit(0)
  }
}
