package iceberglite.spark.rowlevel

import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FSDataOutputStream, Path}
import org.apache.hadoop.util.Progressable
import org.apache.spark.sql.SparkSession

import iceberglite.ChildJvm
import iceberglite.spark.{SharedSession, SparkCatalog, SparkSessionExtensions}
import iceberglite.storage.RenamingFileSystem

/**
 * A point in a statement at which its driver dies.
 *
 * @param call the storage call in which the driver dies
 * @param isAfterCall whether the driver dies after the call has taken effect, instead of before
 * @param matchesPath whether the driver dies in a call for this path
 */
final private[iceberglite] case class CrashPoint(
    name: String,
    call: CrashPoint.Call,
    isAfterCall: Boolean,
    matchesPath: String => Boolean
)

private[iceberglite] object CrashPoint {
  sealed trait Call
  case object Create extends Call
  case object Rename extends Call
  case object Delete extends Call

  private def isCommit(path: String): Boolean = path.endsWith(".metadata.json")

  val WhileTasksWrite: CrashPoint = CrashPoint("while tasks write", Create, isAfterCall = true, _.contains("/data/"))
  private def isMetadata(path: String): Boolean = path.contains("/metadata/") && !path.contains("version-hint")

  /** The version hint is excluded, because the hint of the previous commit is written asynchronously. */
  val BeforeCommit: CrashPoint = CrashPoint("before the commit", Create, isAfterCall = false, isMetadata)
  val InCommit: CrashPoint = CrashPoint("in the commit", Rename, isAfterCall = false, isCommit)
  val AfterCommit: CrashPoint = CrashPoint("after the commit", Rename, isAfterCall = true, isCommit)

  /** The driver dies when it deletes a manifest list, manifest or data file, but not a temporary file of a commit. */
  val WhileFilesAreDeleted: CrashPoint =
    CrashPoint(
      "while files are deleted",
      Delete,
      isAfterCall = true,
      path => Seq(".avro", ".parquet").exists(path.endsWith)
    )

  val WhileMetadataIsCopied: CrashPoint =
    CrashPoint("while metadata is copied", Create, isAfterCall = true, _.contains("/copy-table-staging-"))

  /** The driver of a streaming query dies when the offsets of its third micro-batch are in the checkpoint. */
  val AfterPlanning: CrashPoint =
    CrashPoint("after the micro-batch was planned", Rename, isAfterCall = true, _.endsWith("/offsets/2"))

  /** The driver of a streaming query dies when the commit of its third micro-batch is in the checkpoint. */
  val AfterCheckpoint: CrashPoint =
    CrashPoint("after the checkpoint", Rename, isAfterCall = true, _.endsWith("/commits/2"))

  val ofStatements: Seq[CrashPoint] = Seq(WhileTasksWrite, BeforeCommit, InCommit, AfterCommit)
  val ofStreams: Seq[CrashPoint] = AfterPlanning +: ofStatements :+ AfterCheckpoint
  val all: Seq[CrashPoint] = ofStreams ++ Seq(WhileFilesAreDeleted, WhileMetadataIsCopied)
}

/**
 * A file system that simulates the death of drivers. When a statement reaches the [[CrashPoint]], its driver counts as
 * dead: no further call that creates, renames or deletes a file of the statement's table returns. Statements on other
 * tables continue in the same process.
 */
class DyingFileSystem extends RenamingFileSystem {
  import DyingFileSystem._

  override def getScheme: String = getUri.getScheme

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    dieIf(CrashPoint.Create, path, isAfterCall = false)
    val stream = super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress)
    dieIf(CrashPoint.Create, path, isAfterCall = true)
    stream
  }

  override def rename(from: Path, to: Path): Boolean = {
    dieIf(CrashPoint.Rename, to, isAfterCall = false)
    // A call of a dead driver blocks before or after the call of `super`, and not within it: the superclass renames
    // files under a lock, which other drivers need.
    val renamed = super.rename(from, to)
    dieIf(CrashPoint.Rename, to, isAfterCall = true)
    renamed
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    stopIfDead(path)
    val deleted = super.delete(path, recursive)
    dieIf(CrashPoint.Delete, path, isAfterCall = true)
    deleted
  }
}

private[iceberglite] object DyingFileSystem {
  @volatile private var deaths: Map[String, CrashPoint] = Map.empty

  /** Directories of the tables whose drivers have died. */
  private val deadTables: java.util.Set[String] = ConcurrentHashMap.newKeySet[String]

  @volatile private var remainingDeaths = new CountDownLatch(0)

  /** Lets drivers die from now on. */
  def expect(expected: Seq[Death]): Unit = {
    remainingDeaths = new CountDownLatch(expected.size)
    deaths = expected.map(d => d.table -> d.point).toMap
  }

  /** Waits until all drivers have died. @return whether they died within the time limit */
  def awaitAll(): Boolean = remainingDeaths.await(200, TimeUnit.SECONDS)

  private def tableOf(path: Path): String = path.toUri.getPath.replaceFirst("/(data|metadata|checkpoint)/.*", "")

  private def dieIf(call: CrashPoint.Call, path: Path, isAfterCall: Boolean): Unit = {
    val table = tableOf(path)
    val diesHere =
      deaths.get(table).exists(d => d.call == call && d.isAfterCall == isAfterCall && d.matchesPath(path.toString))
    if (diesHere && deadTables.add(table)) remainingDeaths.countDown()
    stopIfDead(path)
  }

  private def stopIfDead(path: Path): Unit = if (deadTables.contains(tableOf(path))) new CountDownLatch(1).await()
}

/**
 * The death of a driver.
 *
 * @param table the path of the directory of the table to which the driver writes
 * @param work what the driver does, as text that the program of the driver understands
 */
final private[iceberglite] case class Death(point: CrashPoint, table: String, work: String) {
  def line: String = s"${point.name}\t$table\t$work"
}

private[iceberglite] object Death {
  def parse(line: String): Death = {
    val Array(name, table, work) = line.split("\t", 3)
    Death(CrashPoint.all.find(_.name == name).get, table, work)
  }
}

/**
 * A program that runs statements concurrently, each on its own table. When each statement has reached the point at
 * which its driver dies, the process ends without any clean-up, as after `kill -9`.
 */
object DyingDriver {
  val KilledExitCode = 137

  /** Separates statements in a line of the file. The statements of a line run one after another. */
  val Separator = "; "

  /** The master of programs with dying drivers, whose tasks never release their slots. */
  val Master = "local[200]"

  /** @param args the warehouse, a directory for Spark's files, and a file with [[Death]]s */
  def main(args: Array[String]): Unit = {
    val Array(warehouse, scratch, file) = args
    val deaths = Files.readAllLines(Paths.get(file)).asScala.map(Death.parse)
    val spark = DriverProcess.session(Master, warehouse, scratch)
    DyingFileSystem.expect(deaths)
    deaths.foreach { death =>
      val thread = new Thread(() => {
        death.work.split(Separator).foreach(spark.sql(_))
      })
      thread.setDaemon(true)
      thread.start()
    }
    Runtime.getRuntime.halt(if (DyingFileSystem.awaitAll()) KilledExitCode else 1)
  }
}

/** Starts drivers in separate processes. Their catalog `dying` uses the warehouse of the test. */
private[iceberglite] object DriverProcess {

  /** Returns the properties of a catalog whose files are on a [[DyingFileSystem]]. */
  def settings(warehouse: String): Seq[(String, String)] = Seq(
    "type" -> "hadoop",
    "warehouse" -> warehouse,
    "hadoop.fs.ofs.impl" -> classOf[DyingFileSystem].getName,
    "cache-enabled" -> "false"
  )

  /** @param scratch directory for Spark's files */
  def session(master: String, warehouse: String, scratch: String): SparkSession = {
    val catalog = SharedSession.catalogConf("dying", classOf[SparkCatalog].getName, settings(warehouse): _*)
    val conf = catalog ++ Map(
      "spark.ui.enabled" -> "false",
      "spark.sql.ui.explainMode" -> "simple",
      "spark.local.dir" -> scratch,
      "spark.sql.warehouse.dir" -> s"$scratch/spark-warehouse",
      "spark.sql.shuffle.partitions" -> "2",
      "spark.default.parallelism" -> "2",
      "spark.sql.session.timeZone" -> "UTC",
      "spark.sql.extensions" -> classOf[SparkSessionExtensions].getName,
      "spark.hadoop.fs.ofs.impl" -> classOf[DyingFileSystem].getName
    )
    val builder = conf.foldLeft(SparkSession.builder().master(master)) { case (b, (key, value)) =>
      b.config(key, value)
    }
    val spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark
  }

  /**
   * Runs a program in a separate process.
   *
   * @param program the class with the main method, whose arguments are `target`, the directory `scratch` and a file
   *   with the lines
   * @param target where the program writes: a warehouse, or the URI of a Metastore
   * @param heap the maximum size of the heap
   * @return the exit code, or -1 after a timeout, and the last 4000 characters of the output
   */
  def run(
      program: String,
      target: String,
      lines: Seq[String],
      scratch: LocalPath,
      heap: String = "1g"
  ): (Int, String) = {
    val file = Files.write(scratch.resolve("lines"), lines.asJava)
    val ended = ChildJvm.run(program, heap, Seq(target, scratch.toString, file.toString))
    (ended.exitCode.getOrElse(-1), ended.output.takeRight(4000))
  }
}
