package iceberglite.spark.error

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.ExecutionException

import scala.util.{Random, Try}

import org.apache.spark.{SparkException, SparkThrowable}
import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{MoreRounds, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.conf.TablePropertyCheck
import iceberglite.spec.IcebergError

/**
 * Whatever call of the storage or of the catalog's database fails during a statement, users get an exception of Spark
 * that names the table, and never a raw [[IcebergError]]. Afterwards, the statement can be repeated unless it has
 * committed.
 */
@MoreRounds
class ErrorBoundarySuite extends AnyFunSuite with ErrorBoundaryFixture {
  private val casesEach = if (Sampling.isFast) 2 else if (Sampling.isOff) Int.MaxValue else 12
  private val faultsEach = if (Sampling.isFast) 1 else if (Sampling.isOff) Int.MaxValue else 2
  private val random = new Random(Sampling.seed)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    known
    ()
  }

  private def group(name: String, faults: Faults)(cases: => Seq[Case]): Unit = test(name) {
    val all = random.shuffle(cases)
    val chosen = all.take(casesEach)
    Sampling.recordSkipped(all.size - chosen.size, all.size, s"statements with faults, $name")
    val failures = chosen.flatMap(failuresOf(_, faults))
    assert(failures.isEmpty, failures.mkString("\n\n", "\n\n", "\n"))
  }

  group("queries", FaultyFileSystem)(ErrorBoundaryStatements.queries(known))
  group("reads by other statements", FaultyFileSystem)(ErrorBoundaryStatements.reads)
  group("DataFrames", FaultyFileSystem)(ErrorBoundaryStatements.frames(known))
  group("changes of tables", FaultyFileSystem)(ErrorBoundaryStatements.definitions)
  group("procedures", FaultyFileSystem)(ErrorBoundaryStatements.procedures(known))
  group("changes of rows by SQL", FaultyFileSystem)(ErrorBoundaryStatements.rowChanges)
  group("changes of rows by DataFrames", FaultyFileSystem)(ErrorBoundaryStatements.writes(known))
  group("statements on a database", DatabaseFaults)(ErrorBoundaryStatements.onDatabase(known))

  private def failuresOf(c: Case, faults: Faults): Vector[String] = {
    val normal = attempt(c, faults, Fault.Refused, Int.MaxValue, isCached = true)
    normal.error.map(e => s"${c.label} fails without a fault\n${trace(e, "")}").toVector ++
      (if (normal.error.isEmpty) pointsOf(c, faults, normal.calls) else Vector.empty)
        .flatMap { case (fault, at) => failureOf(c, faults, fault, at) }
  }

  private def pointsOf(c: Case, faults: Faults, calls: Int): Vector[(Fault, Int)] = {
    val places = random.shuffle((1 to calls).toVector).take(faultsEach)
    val conflict = if (c.changes && faults == FaultyFileSystem) Vector(Fault.Conflict -> 1) else Vector.empty
    places.map(Fault.everywhere(random.nextInt(Fault.everywhere.size)) -> _) ++ conflict
  }

  private def failureOf(c: Case, faults: Faults, fault: Fault, at: Int): Vector[String] = {
    val isCached = random.nextBoolean()
    val found = attempt(c, faults, fault, at, isCached)
    found.error.toVector.flatMap { error =>
      val mayRepeat = faults == FaultyFileSystem
      val repeated = inSession(found.session)(session => if (mayRepeat) Try(c.run(session)).failed.toOption else None)
      val reasons = violation(c, error).map(_ -> error) ++
        repeated.filter(_ => isUnchanged).map("it cannot be repeated" -> _)
      reasons.map { case (reason, e) =>
        s"${c.label}, $fault at call $at of ${found.calls}, ${if (isCached) "" else "not "}cached: $reason\n${trace(e)}"
      }
    }
  }

  /** Returns what is wrong with an error. */
  private def violation(c: Case, error: Throwable): Option[String] = {
    val ours = causes(error).collect { case e: IcebergError => e }
    if (!isOfSpark(error)) Some("the exception is not Spark's")
    else if (ours.isEmpty) Some("there is no IcebergError among the causes")
    else if (!isNamed(c, error) && !ours.exists(isOfTask)) Some("the message does not name the table")
    else None
  }

  private def isOfSpark(error: Throwable): Boolean = error match {
    case _: AnalysisException | _: SparkException => true
    // Without adaptive execution, Spark throws this if a broadcast fails.
    case e: ExecutionException => Option(e.getCause).exists(isOfSpark)
    case e => e.isInstanceOf[SparkThrowable]
  }

  private def isNamed(c: Case, error: Throwable): Boolean =
    c.byPath && error.getMessage.contains(known.location.stripSuffix("/t")) ||
      "(^|\\W)(faulty|faultydb|catalog faulty|catalog faultydb): |faulty(db)?\\.(db|other|gone|empty)\\b|\\bdb\\.\\w+".r
        .findFirstIn(error.getMessage).isDefined

  /** Whether an error was thrown by a task. */
  private def isOfTask(error: Throwable): Boolean =
    error.getStackTrace.exists(_.getClassName == "org.apache.spark.scheduler.Task")

  private def causes(error: Throwable): Seq[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(50).toSeq

  private def trace(error: Throwable, frames: String = "iceberglite"): String = causes(error).map { e =>
    val shown = e.getStackTrace.filter(_.getClassName.contains(frames)).take(15)
    s"  ${e.getClass.getName}: ${String.valueOf(e.getMessage).take(300)}\n${shown.map(f => s"    $f").mkString("\n")}"
  }.mkString("\n")

  test("properties with invalid values") {
    val allKeys = TablePropertyCheck.knownKeys + "write.location-provider.impl"
    val keys = random.shuffle(allKeys.toVector.filter(_.contains('.')).sorted)
    val chosen = keys.take(if (Sampling.isFast) 2 else if (Sampling.isOff) Int.MaxValue else 12)
    Sampling.recordSkipped(keys.size - chosen.size, keys.size, "properties with invalid values")
    val failures = chosen.flatMap { key =>
      val t = tableWith(key, if (key.endsWith("path")) "unknown-scheme://directory" else "-x")
      try ErrorBoundaryStatements.onAny(t).flatMap { statement =>
          val error = Try(sql(statement).collect()).failed.toOption
          error.filterNot(e => isOfSpark(e) && e.getMessage.contains(t) || causes(e).exists(isOfTask))
            .map(e => s"$statement with $key\n${trace(e)}")
        }
      finally below(directoryOf(t)).reverse.foreach(Files.delete)
    }
    assert(failures.isEmpty, failures.mkString("\n\n", "\n\n", "\n"))
  }

  private def directoryOf(table: String): Path =
    SharedSession.warehouse.resolve(table.stripPrefix("lite.").replace('.', '/'))

  /** Returns a table with a property that a catalog could reject. */
  private def tableWith(key: String, value: String): String = {
    val t = newTable()
    sql(ErrorBoundaryStatements.onRead(t))
    sql(s"INSERT INTO $t SELECT id, id / 2 FROM range(0, 9, 1, 1)")
    val metadata = directoryOf(t).resolve("metadata")
    val before = Files.readString(metadata.resolve("v2.metadata.json"))
    val changed = before.replaceFirst(s"""("properties"\\s*:\\s*\\{)""", s"""$$1"$key":"$value",""")
    // The key occurs once: the value at the creation of the table is renamed.
    val last = changed.lastIndexOf(s""""$key"""")
    val isTwice = changed.indexOf(s""""$key"""") != last
    val single = if (isTwice) changed.patch(last, s""""was.$key"""", key.length + 2) else changed
    Files.write(metadata.resolve("v3.metadata.json"), single.getBytes(UTF_8))
    sql(s"REFRESH TABLE $t")
    t
  }
}
