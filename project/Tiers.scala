import sbt._
import sbt.Keys._
import sbt.Tests.{Argument, Group, SubProcess}

/** The two tiers of tests, which tests/run.py starts and docs/testing.md describes. */
object Tiers {

  /** ScalaTest's tag for slow tests. A suite has it as the annotation `@Slow`, and a single test as a tag. */
  private val slowTag = "org.scalatest.tags.Slow"

  /** The tag of suites with random rounds. The fast tier runs a few rounds of them, and the slow tier all rounds. */
  private val roundsTag = "iceberglite.MoreRoundsInSlowTier"

  /** The tag of tests that the sample of the slow tier omits. */
  private val omittedTag = "iceberglite.OmittedBySample"

  /** Whether this run contains both tiers. Then the slow tier alone runs the random rounds. */
  val runsBoth: Boolean = sys.env.get("ICEBERG_LITE_TIER").contains("all")

  /** Makes ScalaTest report a test that runs longer than `seconds`. tests/run.py then kills the JVM of the test. */
  private def reportHangingAfter(seconds: Int): Argument =
    Argument(TestFrameworks.ScalaTest, "-W", seconds.toString, seconds.toString)

  val fast: Seq[Argument] = {
    val omitted = if (runsBoth) s"$slowTag $roundsTag" else slowTag
    Seq(reportHangingAfter(300), Argument(TestFrameworks.ScalaTest, "-l", omitted))
  }
  val slow: Seq[Argument] =
    Seq(reportHangingAfter(900), Argument(TestFrameworks.ScalaTest, "-n", s"$slowTag $roundsTag", "-l", omittedTag))

  /**
   * Options for the JVMs of Spark's tests, which run most code only a few times: no optimizing compiler (C2), and no
   * verification of classes, which the session of the Python tests verifies. Code that C1 compiles needs a larger
   * stack. Without C2, the code cache has only 48 MiB. Spark fills it in two minutes, and the JVM then interprets all
   * further code. A metaspace of 21 MiB and a small heap would cause many collections at the start. Spark keeps the
   * classes that it generates for 2000 instead of 100 expressions, because many statements of the tests are alike.
   * Spark describes the plan of each statement for its UI in the short form, because the default form would take a
   * tenth of the time of the tests.
   */
  val quickStart: Seq[String] = Seq(
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xss4m",
    "-Xms1g",
    "-XX:ReservedCodeCacheSize=512m",
    "-XX:MetaspaceSize=512m",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
    "-Dspark.sql.codegen.cache.maxEntries=2000",
    "-Dspark.sql.ui.explainMode=simple"
  )

  /** The JVM option for the directory of temporary files, if the environment sets one. */
  def temporary: Seq[String] = sys.env.get("TMPDIR").filter(_.nonEmpty).map(d => s"-Djava.io.tmpdir=$d").toSeq

  /** The settings that run the tests of a project in a tier, and write their reports to a separate directory. */
  def settings(tier: Configuration, arguments: Seq[Argument]): Seq[Setting[_]] =
    inConfig(tier)(Defaults.testTasks) ++ Seq(
      tier / testOptions := (Test / testOptions).value ++ arguments,
      tier / testGrouping := Seq(group(tier, "all", (Test / definedTests).value, (Test / forkOptions).value)),
      tier / testListeners := Seq(
        new JUnitXmlTestsListener((Test / target).value / s"${tier.name}-reports", false, streams.value.log)
      )
    )

  /**
   * Runs the suites that use servers in one JVM, so that each server is started only once, and all others in `parts`
   * JVMs. At most three of these JVMs run at the same time. Suites with similar names, which often take similarly long,
   * run in different JVMs. Each JVM loads and compiles Spark again, but with fewer JVMs, a processor would be idle at
   * the end of a run.
   *
   * @param apart whether the suites that use servers have a JVM of their own. If not, they run in the first JVM
   */
  def split(tier: Configuration, servers: Set[String], parts: Int, apart: Boolean): Seq[Setting[_]] = Seq(
    tier / parallelExecution := true,
    tier / testGrouping := {
      val (withServers, others) = (Test / definedTests).value.partition(t => servers(t.name.split('.').last))
      val byPart = others.sortBy(_.name).zipWithIndex.groupBy(_._2 % parts).toSeq.sortBy(_._1).map {
        case (i, tests) => s"others-$i" -> tests.map(_._1)
      }
      val groups =
        if (apart) ("servers" -> withServers) +: byPart
        else ("with-servers" -> (withServers ++ byPart.head._2)) +: byPart.tail
      groups.map { case (name, tests) => group(tier, name, tests, (Test / forkOptions).value) }
    }
  )

  private def group(tier: Configuration, name: String, tests: Seq[TestDefinition], options: ForkOptions): Group = {
    val all = options.runJVMOptions :+ s"-Diceberglite.tier=${tier.name}"
    Group(name, tests, SubProcess(options.withRunJVMOptions(all)))
  }
}
