package iceberglite.spark

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._
import scala.util.hashing.MurmurHash3

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling

/**
 * Runs the scenarios in `tests/sql` on the catalogs in `tests/catalogs`. The fast tier runs one scenario of each
 * feature, if possible on a catalog that needs no server. The fast and the slow tier together run each scenario at
 * least once, and scenarios of each feature on at least three catalogs if so many catalogs can run them. The seed
 * `ICEBERG_LITE_SAMPLE` selects the pairs of scenario and catalog. With `ICEBERG_LITE_ALL=1`, each scenario runs on
 * each catalog that does not skip it.
 */
class SqlScenarioSuite extends AnyFunSuite with SharedSession {
  import SqlScenarioSuite._

  // The suite selects the scenarios itself.
  override protected def isSampled: Boolean = false

  private val catalogs: Vector[ScenarioCatalog] = ScenarioCatalog.all(Paths.get("tests", "catalogs"))
  private val scenarios = SqlScenario.all(Paths.get("tests", "sql"))

  private val allPairs: Vector[ScenarioRun] =
    for (scenario <- scenarios; catalog <- catalogs if catalog.canRun(scenario)) yield ScenarioRun(scenario, catalog)

  private val fastPairs: Set[ScenarioRun] = features.flatMap(fastPair).toSet

  private val selectedPairs: Vector[ScenarioRun] =
    if (Sampling.isOff) allPairs else features.flatMap(selected) ++ remainingRuns

  selectedPairs.foreach { pair =>
    test(s"${pair.scenario.name} on ${pair.catalog.name}", Sampling.slowUnless(fastPairs(pair)): _*)(run(pair))
  }
  if (Sampling.isOff)
    for (scenario <- scenarios; catalog <- catalogs; reason <- catalog.skips.get(scenario.name))
      ignore(s"${scenario.name} on ${catalog.name}: $reason", Slow)(())

  private val runCount = if (Sampling.isFast) fastPairs.size else selectedPairs.size
  Sampling.recordSkipped(allPairs.size - runCount, allPairs.size, "pairs of SQL scenario and catalog")

  private def features: Vector[Vector[SqlScenario]] =
    scenarios.groupBy(_.name.takeWhile(_ != '/')).toVector.sortBy(_._1).map(_._2)

  /**
   * Goes through the catalogs in turn, and pairs each one with a scenario of the feature that can run on it. The number
   * of turns is max(number of scenarios, number of catalogs).
   */
  private def pairsInTurn(feature: Vector[SqlScenario]): Vector[ScenarioRun] = {
    val start = Math.floorMod(MurmurHash3.stringHash(s"${feature.head.name} ${Sampling.seed}"), 1 << 20)
    (start until start + math.max(feature.size, catalogs.size)).toVector.flatMap { turn =>
      val catalog = catalogs(turn % catalogs.size)
      feature.indices.map(i => feature((turn + i) % feature.size)).find(catalog.canRun).map(ScenarioRun(_, catalog))
    }
  }

  private def fastPair(feature: Vector[SqlScenario]): Option[ScenarioRun] = {
    val pairs = pairsInTurn(feature).take(catalogs.size)
    pairs.find(pair => LocalCatalogs(pair.catalog.name)).orElse(pairs.headOption)
  }

  /** Selects up to max(number of scenarios, `CatalogsPerFeature`) pairs, including the pair of the fast tier. */
  private def selected(feature: Vector[SqlScenario]): Vector[ScenarioRun] =
    (fastPair(feature).toVector ++ pairsInTurn(feature)).distinct.take(math.max(feature.size, CatalogsPerFeature))

  /** Pairs each scenario that [[selected]] omits with the first catalog on which the scenario can run. */
  private def remainingRuns: Vector[ScenarioRun] = {
    val runScenarios = features.flatMap(selected).map(_.scenario).toSet
    scenarios.filterNot(runScenarios).flatMap(s => catalogs.find(_.canRun(s)).map(ScenarioRun(s, _)))
  }

  test("every scenario that a catalog file skips exists") {
    val names = scenarios.map(_.name).toSet
    assert(catalogs.flatMap(_.skips.keys).filterNot(names).isEmpty)
  }

  private def run(pair: ScenarioRun): Unit = {
    val ScenarioRun(scenario, catalog) = pair
    val directory = newDirectory("scenario")
    val session = SharedSession.liteExtensions.newSession()
    catalog.settings(directory).foreach { case (key, value) => session.conf.set(key, value) }
    if (catalog.isShared) ServerSettings.clear(session, catalog.sqlName)
    def namespaces = session.sql(s"SHOW NAMESPACES IN ${catalog.sqlName}").collect().map(_.getString(0)).toSet
    val existing = namespaces
    session.sql(s"CREATE NAMESPACE ${catalog.sqlName}.db")
    session.sql(s"USE ${catalog.sqlName}.db")
    try new ScenarioRunner(session).run(scenario, Map("catalog" -> catalog.sqlName, "directory" -> directory.toString))
    finally if (catalog.sqlName == SessionCatalog)
        (namespaces -- existing).foreach(n => session.sql(s"DROP NAMESPACE ${catalog.sqlName}.`$n` CASCADE"))
  }
}

object SqlScenarioSuite {

  /** The minimum number of catalogs on which scenarios of a feature run, if so many catalogs can run them. */
  private val CatalogsPerFeature = 3

  /** The name of Spark's session catalog, whose databases all sessions share. */
  private val SessionCatalog = "spark_catalog"

  /** The catalogs that need no server. */
  private val LocalCatalogs = Set("hadoop", "jdbc")

  /**
   * The configuration of a catalog.
   *
   * @param sqlName the name of the catalog in SQL
   * @param raw settings with placeholders
   * @param skips scenarios that cannot run on the catalog, with the reason
   */
  private case class ScenarioCatalog(
      name: String,
      sqlName: String,
      raw: Map[String, String],
      skips: Map[String, String]
  ) {
    def settings(directory: Path): Map[String, String] = {
      val servers = new ServerSettings
      raw.map { case (key, value) =>
        key.replace(ScenarioRunner.placeholder("catalog"), sqlName) ->
          servers.replaceIn(value.replace(ScenarioRunner.placeholder("directory"), directory.toString))
      }
    }

    def canRun(scenario: SqlScenario): Boolean = !skips.contains(scenario.name)

    /** Whether other scenarios may have left tables in the catalog. */
    def isShared: Boolean = ServerSettings.isShared(raw.values)
  }

  /** A scenario, and the catalog on which the scenario runs. */
  private case class ScenarioRun(scenario: SqlScenario, catalog: ScenarioCatalog)

  private object ScenarioCatalog {
    def all(directory: Path): Vector[ScenarioCatalog] =
      Files.list(directory).iterator.asScala.filter(_.toString.endsWith(".json")).toVector.sorted.map { file =>
        val json = new ObjectMapper().readTree(file.toFile)
        val name = file.getFileName.toString.stripSuffix(".json")
        val sqlName = Option(json.get("name")).fold(ScenarioRunner.CatalogName)(_.asText)
        ScenarioCatalog(name, sqlName, map(json.get("settings")), map(json.get("skips")))
      }

    private def map(node: JsonNode): Map[String, String] =
      node.fields.asScala.map(e => e.getKey -> e.getValue.asText).toMap
  }
}
