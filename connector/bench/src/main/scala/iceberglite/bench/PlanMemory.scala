package iceberglite.bench

import java.nio.file.{Files, Path}

import iceberglite.scan.{ScanPlan, StatsToKeep, TableScan}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysTrue, LessThan}
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.table.Table
import iceberglite.tree.ManifestCache

/**
 * Measures the heap that the plan of a scan with many files occupies. Plans scans of a [[SyntheticTable]] in a
 * temporary directory, without the manifest cache.
 *
 * The argument is the number of files; the default is 1,000,000. Set `-Xmx` of the JVM to limit the heap for the plan.
 */
object PlanMemory {
  def main(args: Array[String]): Unit = {
    val files = args.headOption.fold(1000000)(_.toInt)
    val directory = Files.createTempDirectory("plan-memory")
    val table = SyntheticTable.write(directory.toString, files)
    println(f"manifests: ${bytesIn(directory) / 1e6}%.1f MB, heap: ${Runtime.getRuntime.maxMemory / 1e6}%.0f MB")
    Seq("all" -> AlwaysTrue, "a tenth by bounds" -> LessThan(Named("k"), LongLiteral(files.toLong * 10))).foreach {
      case (label, filter) => measure(table, label, filter, files)
    }
  }

  private def measure(table: Table, label: String, filter: Expression, files: Int): Unit = {
    val before = usedBytes()
    val start = System.nanoTime()
    val plan: ScanPlan = TableScan(
      table.tree(table.schema),
      table.currentSnapshot,
      filter,
      caseSensitive = true,
      ManifestCache.Disabled,
      StatsToKeep.Of(Set.empty)
    ).plan()
    val seconds = (System.nanoTime() - start) / 1e9
    val bytes = usedBytes() - before
    val bytesPerFile = bytes / math.max(1, plan.tasks.size)
    println(
      f"$label: ${plan.tasks.size} of $files files in $seconds%.1f s, ${bytes / 1e6}%.1f MB, $bytesPerFile bytes a file"
    )
  }

  private def usedBytes(): Long = {
    (0 until 3).foreach(_ => System.gc())
    val runtime = Runtime.getRuntime
    runtime.totalMemory - runtime.freeMemory
  }

  private def bytesIn(directory: Path): Long = {
    val files = Files.list(directory.resolve("metadata"))
    try files.mapToLong(Files.size(_)).sum
    finally files.close()
  }
}
