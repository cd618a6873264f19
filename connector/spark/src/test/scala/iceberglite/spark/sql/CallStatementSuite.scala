package iceberglite.spark.sql

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.types.{ArrayType, LongType, MapType, StringType, StructType}
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession
import iceberglite.spark.error.StatementError
import iceberglite.spark.procedure.{Arguments, Parameter, ParameterType, Procedure, ProcedureContext}

/** Checks the syntax of CALL statements and the conversion of their arguments. */
class CallStatementSuite extends AnyFunSuite with SharedSession {

  private object Echo extends Procedure {
    private val texts = ParameterType[Map[String, String]](
      MapType(StringType, StringType),
      "dict[str, str]",
      { case map: MapData =>
        val values = (0 until map.numElements).map(i =>
          map.keyArray.getUTF8String(i).toString -> map.valueArray.getUTF8String(i).toString
        )
        values.toMap
      }
    )
    private val ids = ParameterType[Seq[Long]](
      ArrayType(LongType),
      "list[int]",
      { case array: ArrayData => array.toLongArray().toList }
    )
    private val id = Parameter.optional("id", ParameterType.Id, "A number")
    private val at = Parameter.optional("at", ParameterType.Time, "A time")
    private val options = Parameter.optional("options", texts, "Texts by names")
    private val manyIds = Parameter.optional("several", ids, "Numbers")

    override val name = "echo"
    override val description = "Returns its arguments"
    override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, id, at, options, manyIds)
    override val output: StructType = new StructType().add("arguments", StringType)

    override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
      val texts = parameters.flatMap(p => arguments.get(p).map(value => s"${p.name}=$value"))
      Seq(Row(texts.mkString(" ")))
    }
  }

  private def parsed(sql: String): CallCommand = {
    val reader = new SqlReader(sql)
    assert(reader.skip("CALL"))
    val plan = new CallStatement(spark, spark.sessionState.sqlParser, Seq(Echo)).parse(reader)
    reader.end()
    plan.getOrElse(fail(s"the CALL statement was not parsed: $sql")).asInstanceOf[CallCommand]
  }

  private def echo(arguments: String): String = {
    val analyzed = spark.sessionState.executePlan(parsed(s"CALL lite.system.echo($arguments)")).analyzed
    analyzed.asInstanceOf[CallCommand].run(spark).head.getString(0)
  }

  private def error(sql: String): ParseException = intercept[ParseException](parsed(sql))

  test("arguments are given by position or by name, and omitted arguments are absent") {
    assert(echo("'t'") == "table=t")
    assert(echo("'t', 5") == "table=t id=5")
    assert(echo("at => TIMESTAMP '1970-01-01 00:00:01.5', TABLE => 't'") == "table=t at=1500")
    assert(echo("table => 't', `id` => -5") == "table=t id=-5")
    assert(echo("'t', NULL, NULL, map('a', 'b')") == "table=t options=Map(a -> b)")
  }

  test("constant expressions in arguments are evaluated as in Spark") {
    Seq("7", "7L", "7S", "'7'", "CAST(7 AS TINYINT)", "3 + 4", "(7)", "if(true, 7, 8)").foreach { text =>
      assert(echo(s"'t', $text") == "table=t id=7", text)
    }
    Seq("'say \\'hi\\', (you)'", "\"say 'hi', (you)\"", "'say ' \"'hi'\" ', (you)'").foreach { text =>
      assert(echo(text) == "table=say 'hi', (you)", text)
    }
    assert(echo("table => 't', at => DATE '1970-01-02'") == "table=t at=86400000")
  }

  test("the elements of maps and arrays are converted to the types of the parameter") {
    assert(echo("table => 't', options => MAP('a', 1, 'b', 2)") == "table=t options=Map(a -> 1, b -> 2)")
    assert(echo("table => 't', several => array(1, 2L)") == "table=t several=List(1, 2)")
    assert(echo("table => 't', several => array()") == "table=t several=List()")
  }

  test("text that is not a timestamp is rejected, and a timestamp without a zone is in the session's zone") {
    withConf("spark.sql.session.timeZone" -> "America/New_York") {
      assert(echo("table => 't', at => '1970-01-01 00:00:00'") == "table=t at=18000000")
    }
    val e = intercept[StatementError](echo("table => 't', at => 'noon'"))
    assert(e.getMessage.contains("argument at of echo") && e.getMessage.contains("noon"))
  }

  test("query parameters of a CALL statement are bound to their values") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1)")
    val named = spark.sql("CALL lite.system.ancestors_of(:t)", Map[String, Any]("t" -> t))
    assert(named.count() == 1)
    assert(spark.sql("CALL lite.system.ancestors_of(table => ?)", Array[Any](t)).count() == 1)
  }

  test("a syntax error has the line and the position of the invalid word") {
    Seq(
      ("CALL lite.system.ech('t')", (1, 5), "did you mean echo?"),
      ("CALL lite.echo('t')", (1, 5), "there is no procedure lite.echo; call procedures as lite.system.<procedure>"),
      ("CALL lite.system.echo", (1, 21), "expected '('"),
      ("CALL lite.system.echo()", (1, 22), "the argument table of echo is missing"),
      ("CALL lite.system.echo(\n  tabl => 't')", (2, 2), "echo has no argument tabl; did you mean table?"),
      ("CALL lite.system.echo('t',\n id => 1)", (2, 1), "either all positional or all named"),
      ("CALL lite.system.echo(table => 't', table => 'u')", (1, 36), "the argument table is given twice"),
      ("CALL lite.system.echo('t', 1, NULL, NULL, NULL, 6)", (1, 48), "at most 5 arguments"),
      ("CALL lite.system.echo(table = > 't')", (1, 30), "'>'"),
      ("CALL lite.system.echo('t',\n\n  1 +)", (3, 5), ""),
      ("CALL lite.system.echo('t', id)", (1, 27), "the value of id must be in quotes: 'id'"),
      ("CALL lite.system.echo('t', (1)", (1, 30), "expected ',' or ')'"),
      ("CALL lite.system.echo('t') x", (1, 27), "expected the end of the statement")
    ).foreach { case (text, (line, position), message) =>
      val e = error(text)
      assert(e.getMessage.contains(message), text)
      assert((e.line, e.startPosition) == ((Some(line), Some(position))), text)
      assert(e.command == Some(text))
    }
  }

  test("CALL statements for procedures of other catalogs are not parsed") {
    Seq("CALL spark_catalog.system.echo('t')", "CALL echo('t')", "CALL ice.system.ancestors_of('t')", "CALL").foreach {
      text =>
        val reader = new SqlReader(text)
        reader.skip("CALL")
        assert(new CallStatement(spark, spark.sessionState.sqlParser, Seq(Echo)).parse(reader) == None, text)
    }
  }
}
