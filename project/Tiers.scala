import sbt._
import sbt.Keys._
import sbt.Tests.{Argument, Group, SubProcess}

/** The two tiers of tests, which tests/run.py starts: docs/testing.md. */
object Tiers {

  /** Of ScalaTest: for suites as an annotation, for tests as a tag. */
  private val slowTag = "org.scalatest.tags.Slow"

  /** Suites of random rounds, of which the fast tier has a few. */
  private val roundsTag = "iceberglite.MoreRounds"

  /** A test that takes longer hangs: ScalaTest says so, and tests/run.py ends its JVM. */
  private def hangsAfter(seconds: Int): Argument =
    Argument(TestFrameworks.ScalaTest, "-W", seconds.toString, seconds.toString)

  val fast: Seq[Argument] = Seq(hangsAfter(120), Argument(TestFrameworks.ScalaTest, "-l", slowTag))
  val slow: Seq[Argument] = Seq(hangsAfter(300), Argument(TestFrameworks.ScalaTest, "-n", s"$slowTag $roundsTag"))

  /** What compiles a lot, and runs most of it a few times; the first compiler's frames take more of the stack. */
  val quickStart: Seq[String] = Seq("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xss4m")

  /** Where tests put their files, if the caller says it. */
  def temporary: Seq[String] = sys.env.get("TMPDIR").filter(_.nonEmpty).map(d => s"-Djava.io.tmpdir=$d").toSeq

  /** The tests of a project in a tier, whose reports have a directory of their own. */
  def settings(tier: Configuration, arguments: Seq[Argument]): Seq[Setting[_]] =
    inConfig(tier)(Defaults.testTasks) ++ Seq(
      tier / testOptions := (Test / testOptions).value ++ arguments,
      tier / testGrouping := Seq(group(tier, "all", (Test / definedTests).value, (Test / forkOptions).value)),
      tier / testListeners := Seq(
        new JUnitXmlTestsListener((Test / target).value / s"${tier.name}-reports", false, streams.value.log)
      )
    )

  /** Those that use servers in one JVM, all others in another, both at the same time. */
  def split(tier: Configuration, servers: Set[String]): Seq[Setting[_]] = Seq(
    tier / parallelExecution := true,
    tier / testGrouping := {
      val (using, alone) = (Test / definedTests).value.partition(t => servers(t.name.split('.').last))
      Seq("servers" -> using, "alone" -> alone).map { case (name, tests) =>
        group(tier, name, tests, (Test / forkOptions).value)
      }
    }
  )

  private def group(tier: Configuration, name: String, tests: Seq[TestDefinition], options: ForkOptions): Group = {
    val all = options.runJVMOptions :+ s"-Diceberglite.tier=${tier.name}"
    Group(name, tests, SubProcess(options.withRunJVMOptions(all)))
  }
}
