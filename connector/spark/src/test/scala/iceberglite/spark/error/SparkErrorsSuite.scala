package iceberglite.spark.error

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.{ErrorClassesJsonReader, SparkException, SparkThrowable}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.{
  NamespaceAlreadyExistsException,
  NoSuchNamespaceException,
  NoSuchTableException,
  TableAlreadyExistsException
}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.{IcebergError, ObjectKind}
import iceberglite.spec.IcebergError._

/** Checks the exceptions of Spark into which errors are converted. */
class SparkErrorsSuite extends AnyFunSuite {
  private val conditionsFile = classOf[SparkThrowable].getClassLoader.getResource("error/error-classes.json")
  private val sparkConditions = new ErrorClassesJsonReader(Seq(conditionsFile))
  private val messages: JsonNode = new ObjectMapper().readTree(conditionsFile)

  /** Returns the message of a condition of Spark, with the names of its parameters in angle brackets. */
  private def templateOf(condition: String): Option[String] = {
    val parts = condition.split('.')
    Option(messages.get(parts.head)).map { main =>
      val nodes = main +: parts.drop(1).toSeq.map(main.path("subClass").path(_))
      nodes.flatMap(_.path("message").elements.asScala).map(_.asText).mkString(" ")
    }
  }

  private val classes: Seq[(IcebergError, Class[_ <: Exception])] = Seq(
    NotFound(ObjectKind.Table, "t", "Look") -> classOf[NoSuchTableException],
    AlreadyExists(ObjectKind.Table, "t", "Drop") -> classOf[TableAlreadyExistsException],
    NotFound(ObjectKind.Namespace, "n", "Look") -> classOf[NoSuchNamespaceException],
    AlreadyExists(ObjectKind.Namespace, "n", "Drop") -> classOf[NamespaceAlreadyExistsException],
    NotFound(ObjectKind.Column, "c", "Look") -> classOf[StatementError],
    InvalidMetadata("v1.metadata.json", "$", "cut short") -> classOf[StatementError],
    UnreadableFile("f", "manifest", "gone") -> classOf[StatementError],
    Unsupported("this", "Do that") -> classOf[StatementError],
    InvalidArgument("option", "x", "A number") -> classOf[StatementError],
    ValidationFailed("No") -> classOf[StatementError],
    ConcurrentChange("No") -> classOf[StatementError],
    CommitConflict("cat.db.t", "version 3") -> classOf[OperationError],
    CommitStateUnknown("cat.db.t", Some("v3"), "timed out", None) -> classOf[OperationError],
    StorageFailed.at("write", "f", "full") -> classOf[OperationError]
  )

  test("an error becomes an exception of Spark with the message, the table name and the error as its cause") {
    classes.foreach { case (error, expected) =>
      val e = SparkErrors.of("cat.db.t", error)
      assert(expected.isInstance(e) && e.getMessage.contains(error.getMessage) && e.getMessage.contains("cat.db.t"))
      assert(e.getCause == error)
    }
  }

  test("an error has a condition of Spark with its SQL state, or a condition that begins with ICEBERG_LITE") {
    val others = Seq(ObjectKind.Snapshot, ObjectKind.View, ObjectKind.SnapshotOrRef)
      .flatMap(kind => Seq[IcebergError](NotFound(kind, "x", "Look"), AlreadyExists(kind, "x", "Drop")))
    val more = others ++ Seq(
      AlreadyCommitted("cat.db.t", "app", 3, 4),
      ColumnWidened("cat.db.t", "c", "int", "long"),
      CheckViolated("cat.db.t", "positive", "n > 0", "n = -1"),
      GeneratedColumnMismatch("cat.db.t", "g", "n * 2", "g = 1, n = 1"),
      NullInRequired("c"),
      CommitStateUnknown("cat.db.t", None, "timed out", None)
    )
    (classes.map(_._1) ++ more ++ ReferenceErrors.samples).foreach { error =>
      SparkErrors.of("cat.db.t", error) match {
        case e: SparkThrowable =>
          assert(templateOf(e.getErrorClass).isDefined != e.getErrorClass.startsWith("ICEBERG_LITE."), error)
          val known = Option(sparkConditions.getSqlState(e.getErrorClass))
          assert(known.forall(_ == e.getSqlState) && e.getSqlState.matches("[0-9A-Z]{5}"), error)
          assert(ErrorCondition.of(error).name == e.getErrorClass && ErrorCondition.of(error).sqlState == e.getSqlState)
        case other => fail(s"$error became $other")
      }
    }
  }

  test("a condition of Spark has all parameters of Spark's message") {
    val missing =
      for {
        condition <- ReferenceErrors.samples.map(ErrorCondition.of)
        template <- templateOf(condition.name)
      } yield condition.name ->
        ("<([^>]+)>".r.findAllMatchIn(template).map(_.group(1)).toSet -- condition.parameters.keySet)
    assert(missing.map(_._1).distinct.size >= 12)
    // Only errors of calls have the name of a procedure or function, which CallErrors adds.
    assert(missing.filter(_._2.nonEmpty) == Seq("INVALID_PARAMETER_VALUE" -> Set("functionName")))
  }

  test("an error for a type of a column names the table and has the parameters of the column") {
    val error = SparkErrors.of("cat.db.t", Unsupported("column c", "Cast it", Feature.ColumnType("c", "INTERVAL DAY")))
    assert(error.getMessage == "[UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE] cat.db.t: Unsupported: column c. Cast it")
    val parameters = Map("format" -> "iceberg", "columnName" -> "c", "columnType" -> "INTERVAL DAY")
    assert(Some(error).collect { case e: StatementError => e.getMessageParameters.asScala.toMap }.contains(parameters))
  }

  test("an exception has the parameters of its condition, even if Spark has a class for the condition") {
    classes.map(_._1).foreach { error =>
      SparkErrors.of("cat.db.t", error) match {
        case e: SparkThrowable =>
          assert(e.getMessageParameters.asScala.toMap == ErrorCondition.of(error).parameters, error)
        case other => fail(s"$error became $other")
      }
    }
    val missing = SparkErrors.of("cat.db.t", NotFound(ObjectKind.Table, "cat.db.t", "Look"))
    val parameters = Some(missing).collect { case e: NoSuchTableException => e.getMessageParameters.asScala.toMap }
    assert(parameters.contains(Map("relationName" -> "cat.db.t")))
  }

  test(
    "the error of a failed job has the condition, the SQL state and the parameters of its first cause with a condition"
  ) {
    val cause = SparkErrors.of("cat.db.t", NullInRequired("c"))
    val error = SparkErrors.ofJob(new SparkException("Job aborted", new SparkException("Task failed", cause)))
    assert(error.getErrorClass == "ICEBERG_LITE.NOT_NULL_VIOLATION" && error.getSqlState == "23502")
    assert(error.getMessageParameters.asScala.toMap == Map("column" -> "c"))
    assert(error.isInstanceOf[OperationError] && error.getMessage == s"${cause.getMessage} (Job aborted)")
    val waited = SparkErrors.ofJob(new SparkException(
      "Exception thrown in awaitResult: ",
      new SparkException("Job aborted", new SparkException("Task failed", cause))
    ))
    assert(waited.getMessage == error.getMessage && waited.getCause.getMessage == "Task failed")
    val other = SparkErrors.ofJob(new SparkException("Job aborted", new RuntimeException("other")))
    assert(other.isInstanceOf[JobError] && other.isInstanceOf[SparkException])
    assert(other.getErrorClass == "ICEBERG_LITE.JOB_FAILED" && other.getSqlState == "58000")
  }

  test("the parameters of a condition show no secrets of URLs") {
    val error = StorageFailed.at("write", "s3://key:secret@bucket/f", "full")
    assert(!ErrorCondition.of(error).parameters.toString.contains("secret"))
  }

  test("a table name that the message already contains is not repeated") {
    val e = SparkErrors.of("cat.db.t", NotFound(ObjectKind.Table, "cat.db.t", "Look"))
    assert(e.getMessage == "[TABLE_OR_VIEW_NOT_FOUND] Table not found: cat.db.t. Look")
  }

  test("errors in a statement become AnalysisExceptions, and exceptions of other classes are unchanged") {
    val error = intercept[AnalysisException](SparkErrors.in("t")(throw ValidationFailed("No")))
    assert(error.getMessage == "[ICEBERG_LITE.VALIDATION_FAILED] t: No")
    intercept[ArithmeticException](SparkErrors.in("t")(throw new ArithmeticException))
    assert(SparkErrors.in("t")(1) == 1)
  }

  private def casesOf(parent: Class[_]): Set[String] =
    Class.forName(s"${parent.getName}$$").getDeclaredClasses.filter(parent.isAssignableFrom).map(_.getName).toSet

  private def filesIn(directory: Path): Vector[Path] = {
    val files = Files.walk(directory)
    try files.iterator.asScala.toVector
    finally files.close()
  }

  test("the list of errors in docs/reference.md has a sample of each error, and of each kind that the sources name") {
    val declared = classOf[IcebergError].getDeclaredClasses.filter(classOf[IcebergError].isAssignableFrom(_))
    assert(
      declared.length > 10 && ReferenceErrors.samples.map(_.getClass.getName).toSet == declared.map(_.getName).toSet
    )
    assert(casesOf(classOf[Feature]) == ReferenceErrors.features.map(_.getClass.getName).toSet)
    val sources = Seq("spec", "core", "spark").map(module => Paths.get("connector", module, "src", "main"))
      .flatMap(filesIn)
      .filter(_.toString.endsWith(".scala")).map(file => new String(Files.readAllBytes(file), UTF_8))
    def named(error: String): Set[String] = {
      val pattern = s"\\b$error\\(\\s*ObjectKind\\.(\\w+)".r
      sources.flatMap(pattern.findAllMatchIn(_).map(_.group(1))).toSet
    }
    val missing = named("NotFound")
    assert(missing.size > 15 && missing.subsetOf(ReferenceErrors.missingKinds.map(_.toString).toSet))
    val existing = named("AlreadyExists")
    assert(existing.size > 5 && existing.subsetOf(ReferenceErrors.existingKinds.map(_.toString).toSet))
  }
}
