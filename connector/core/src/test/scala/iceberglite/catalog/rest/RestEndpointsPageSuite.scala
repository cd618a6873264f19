package iceberglite.catalog.rest

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.io.Source

import org.apache.iceberg.rest.{Endpoint => PeerEndpoint}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.SourceFiles

/**
 * Checks `docs/catalogs/rest-endpoints.md`: it lists every endpoint of the specification, states correctly whether the
 * catalog calls it and for what, or what happens instead, and names an existing suite for each endpoint. The resource
 * `rest-endpoints.tsv` lists the endpoints in the `paths` of the OpenAPI description, each with a test of the request,
 * or of what happens instead.
 */
class RestEndpointsPageSuite extends AnyFunSuite {

  /** @param cells the columns of the table, without the first one, which contains the endpoint */
  private case class Row(endpoint: String, cells: Vector[String]) {
    def isCalled: Boolean = cells.head.startsWith("yes")
    def suites: Vector[String] = """`(\w+Suite)`""".r.findAllMatchIn(cells.last).map(_.group(1)).toVector
  }

  private val page: Path = Paths.get("docs", "catalogs", "rest-endpoints.md")
  private val text: String = new String(Files.readAllBytes(page), UTF_8)
  private val tokens = "POST /v1/oauth/tokens"

  private val rows: Vector[Row] = text.split('\n').toVector.filter(_.startsWith("| `")).map { line =>
    val cells = line.stripPrefix("|").stripSuffix("|").split('|').toVector.map(_.trim)
    val endpoint = cells.head.split('`')(1).replace("{ns}", "/v1/{prefix}/namespaces/{namespace}")
    Row(endpoint, cells.tail)
  }

  // A long name consists of several literals.
  private val suites: Map[String, String] = Seq("spec", "core", "spark")
    .flatMap(project => SourceFiles.in(s"$project/src/test")).map { file =>
      file.getFileName.toString.stripSuffix(".scala") ->
        new String(Files.readAllBytes(file), UTF_8).replaceAll("\"\\s*\\+\\s*s?\"", "")
    }.toMap

  /** The suite and the name of the test of each endpoint of the specification. */
  private val specified: Map[String, (String, String)] = {
    val source = Source.fromResource("rest-endpoints.tsv", getClass.getClassLoader)("UTF-8")
    try source.getLines().drop(1).map(_.split('\t')).map { line =>
        val Array(suite, name) = line(1).split(": ", 2)
        line(0) -> (suite -> name)
      }.toMap
    finally source.close()
  }

  test("the page lists every endpoint once, and no other endpoint is called") {
    val endpoints = rows.map(_.endpoint)
    assert(endpoints.diff(endpoints.distinct).isEmpty)
    assert(rows.filter(_.isCalled).map(_.endpoint).toSet == Endpoint.all.map(_.toString).toSet + tokens)
    assert(rows.filterNot(_.isCalled).forall(_.cells.head == "no"))
    assert(text.contains(s"iceberg-lite calls ${rows.count(_.isCalled)} of the ${rows.size} endpoints."))
  }

  test("the page lists the endpoints of the specification, and these include all that Apache Iceberg knows") {
    assert(rows.map(_.endpoint).toSet == specified.keySet)
    val constants = classOf[PeerEndpoint].getFields.toVector.map(_.get(classOf[PeerEndpoint]))
    val known = constants.collect { case endpoint: PeerEndpoint => endpoint.toString }
    assert(known.size > 25 && known.filterNot(specified.contains).isEmpty)
  }

  test("every row states a use or what happens instead, and names suites that exist and contain the listed test") {
    for (row <- rows) withClue(row) {
      val use = row.cells(1)
      assert(if (row.isCalled) use.nonEmpty else row.cells.last.nonEmpty)
      assert(row.suites.nonEmpty)
      row.suites.foreach(suite => assert(suites.get(suite).exists(_.contains("test(")), suite))
      val (suite, name) = specified(row.endpoint)
      assert(row.suites.contains(suite))
      assert(suites(suite).replaceAll("test\\(\\s+", "test(").contains("test(\"" + name + "\""), name)
    }
  }

  test("the existence of each kind of object is tested with HEAD in a suite that records requests") {
    val heads = rows.filter(_.endpoint.startsWith("HEAD "))
    assert(heads.size == 3 && heads.forall(_.suites.contains("RestProtocolSuite")))
  }
}
