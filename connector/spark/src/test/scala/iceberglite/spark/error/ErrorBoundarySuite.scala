package iceberglite.spark.error

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.ExecutionException

import scala.util.{Random, Try}

import org.apache.spark.{SparkException, SparkThrowable}
import org.apache.spark.sql.AnalysisException
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{InEveryRun, MoreRoundsInSlowTier, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spec.IcebergError
import iceberglite.table.KnownProperties

/**
 * Makes calls to the storage or to the catalog's database fail during statements. Users must get an exception of Spark
 * with an [[IcebergError]] among its causes. The message of the exception must name the catalog, namespace, table or
 * path that the statement uses, unless a task threw the error. If a storage call failed and the statement did not
 * change the storage, the statement must succeed when it is repeated. The tests run a sample of the statements and
 * calls.
 */
@MoreRoundsInSlowTier
class ErrorBoundarySuite extends AnyFunSuite with ErrorBoundaryFixture {
  private val casesPerGroup = if (Sampling.isFast) 2 else if (Sampling.isOff) Int.MaxValue else 6
  private val faultsPerCase = if (Sampling.isFast) 1 else if (Sampling.isOff) Int.MaxValue else 2
  private val random = new Random(Sampling.seed)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    tableFacts
    ()
  }

  private def group(name: String, faults: Faults, tags: Tag*)(
      cases: => Seq[Case]
  ): Unit = test(s"if a call fails during $name, Spark's exception names the object or comes from a task", tags: _*) {
    val all = random.shuffle(cases)
    val sampled = all.take(casesPerGroup)
    Sampling.recordSkipped(all.size - sampled.size, all.size, s"statements with faults, $name")
    val failures = sampled.flatMap(failuresOf(_, faults))
    assert(failures.isEmpty, failures.mkString("\n\n", "\n\n", "\n"))
  }

  group("queries", FaultyFileSystem)(ErrorBoundaryStatements.queries(tableFacts))
  group("reads by other statements", FaultyFileSystem)(ErrorBoundaryStatements.reads)
  group("DataFrames", FaultyFileSystem)(ErrorBoundaryStatements.frames(tableFacts))
  group("changes to tables", FaultyFileSystem)(ErrorBoundaryStatements.definitions)
  group("procedures", FaultyFileSystem, Slow, InEveryRun)(ErrorBoundaryStatements.procedures(tableFacts))
  group("changes to rows by SQL", FaultyFileSystem, Slow, InEveryRun)(ErrorBoundaryStatements.rowChanges)
  group("changes to rows by DataFrames", FaultyFileSystem, Slow, InEveryRun)(ErrorBoundaryStatements.writes(tableFacts))
  group("statements on a database", DatabaseFaults)(ErrorBoundaryStatements.onDatabase(tableFacts))

  private def failuresOf(c: Case, faults: Faults): Vector[String] = {
    val normal = attempt(c, faults, Fault.Refused, Int.MaxValue, isCached = true)
    normal.error.map(e => s"${c.label} fails without a fault\n${trace(e, "")}").toVector ++
      (if (normal.error.isEmpty) pointsOf(c, faults, normal.calls) else Vector.empty)
        .flatMap { case (fault, callNumber) => failureOf(c, faults, fault, callNumber) }
  }

  private def pointsOf(c: Case, faults: Faults, calls: Int): Vector[(Fault, Int)] = {
    val places = random.shuffle((1 to calls).toVector).take(faultsPerCase)
    val conflict = if (c.changes && faults == FaultyFileSystem) Vector(Fault.Conflict -> 1) else Vector.empty
    places.map(Fault.ofAnyCall(random.nextInt(Fault.ofAnyCall.size)) -> _) ++ conflict
  }

  private def failureOf(c: Case, faults: Faults, fault: Fault, callNumber: Int): Vector[String] = {
    val isCached = random.nextBoolean()
    val result = attempt(c, faults, fault, callNumber, isCached)
    result.error.toVector.flatMap { error =>
      val mayRepeat = faults == FaultyFileSystem
      val repeated = inSession(result.session)(session => if (mayRepeat) Try(c.run(session)).failed.toOption else None)
      val reasons = violation(c, error).map(_ -> error) ++
        repeated.filter(_ => isUnchanged).map("the statement fails again when it is repeated" -> _)
      reasons.map { case (reason, e) =>
        val cache = if (isCached) "cached" else "not cached"
        s"${c.label}, $fault at call $callNumber of ${result.calls}, $cache: $reason\n${trace(e)}"
      }
    }
  }

  /** Returns the rule that an error violates, or `None`. */
  private def violation(c: Case, error: Throwable): Option[String] = {
    val icebergErrors = causes(error).collect { case e: IcebergError => e }
    if (!isSparkException(error)) Some("the exception is not an exception of Spark")
    else if (icebergErrors.isEmpty) Some("the causes of the exception contain no IcebergError")
    else if (!namesObject(c, error) && !icebergErrors.exists(isThrownByTask))
      Some("the message names no catalog, namespace, table or path")
    else None
  }

  private def isSparkException(error: Throwable): Boolean = error match {
    case _: AnalysisException | _: SparkException => true
    // Without adaptive execution, Spark throws this if a broadcast fails.
    case e: ExecutionException => Option(e.getCause).exists(isSparkException)
    case e => e.isInstanceOf[SparkThrowable]
  }

  /** Whether the message of an error names the catalog, namespace, table or path that the statement uses. */
  private def namesObject(c: Case, error: Throwable): Boolean =
    c.byPath && error.getMessage.contains(tableFacts.location.stripSuffix("/t")) ||
      "(^|\\W)(faulty|faultydb|catalog faulty|catalog faultydb): |faulty(db)?\\.(db|other|gone|empty)\\b|\\bdb\\.\\w+".r
        .findFirstIn(error.getMessage).isDefined

  /** Whether an error was thrown by a task. */
  private def isThrownByTask(error: Throwable): Boolean =
    error.getStackTrace.exists(_.getClassName == "org.apache.spark.scheduler.Task")

  private def causes(error: Throwable): Seq[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(50).toSeq

  private def trace(error: Throwable, frames: String = "iceberglite"): String = causes(error).map { e =>
    val stackFrames = e.getStackTrace.filter(_.getClassName.contains(frames)).take(15)
    val lines = stackFrames.map(f => s"    $f").mkString("\n")
    s"  ${e.getClass.getName}: ${String.valueOf(e.getMessage).take(300)}\n$lines"
  }.mkString("\n")

  test("errors for invalid table properties are exceptions of Spark that name the table, or come from tasks", Slow) {
    val allKeys = KnownProperties.all.map(_.key).toSet + "write.location-provider.impl"
    val keys = random.shuffle(allKeys.toVector.filter(_.contains('.')).sorted)
    val sampled = keys.take(if (Sampling.isFast) 2 else if (Sampling.isOff) Int.MaxValue else 8)
    Sampling.recordSkipped(keys.size - sampled.size, keys.size, "properties with invalid values")
    val failures = sampled.flatMap { key =>
      val t = tableWith(key, if (key.endsWith("path")) "unknown-scheme://directory" else "-x")
      try ErrorBoundaryStatements.statementsOn(t).flatMap { statement =>
          val error = Try(sql(statement).collect()).failed.toOption
          error.filterNot(e => isSparkException(e) && e.getMessage.contains(t) || causes(e).exists(isThrownByTask))
            .map(e => s"$statement with $key\n${trace(e)}")
        }
      finally below(directoryOf(t)).reverse.foreach(Files.delete)
    }
    assert(failures.isEmpty, failures.mkString("\n\n", "\n\n", "\n"))
  }

  private def directoryOf(table: String): Path =
    SharedSession.warehouse.resolve(table.stripPrefix("lite.").replace('.', '/'))

  /** Creates a table with the given property by editing the metadata file, because statements reject invalid values. */
  private def tableWith(key: String, value: String): String = {
    val t = newTable()
    sql(ErrorBoundaryStatements.createMergeOnRead(t))
    sql(s"INSERT INTO $t SELECT id, id / 2 FROM range(0, 9, 1, 1)")
    val metadata = directoryOf(t).resolve("metadata")
    val original = Files.readString(metadata.resolve("v2.metadata.json"))
    val edited = original.replaceFirst(s"""("properties"\\s*:\\s*\\{)""", s"""$$1"$key":"$value",""")
    // A key must not occur twice, so a property of this name that the table was created with is renamed.
    val last = edited.lastIndexOf(s""""$key"""")
    val isTwice = edited.indexOf(s""""$key"""") != last
    val single = if (isTwice) edited.patch(last, s""""was.$key"""", key.length + 2) else edited
    Files.write(metadata.resolve("v3.metadata.json"), single.getBytes(UTF_8))
    sql(s"REFRESH TABLE $t")
    t
  }
}
