/** The Scala versions with which Spark 3.5.9 was built. PySpark contains only 2.12, so only `make cross` uses 2.13. */
val scala212 = "2.12.18"
val scala213 = "2.13.8"

ThisBuild / organization := "io.github.iceberg-lite"
ThisBuild / version := IO.read((ThisBuild / baseDirectory).value / "VERSION").trim
ThisBuild / scalaVersion := scala212
ThisBuild / versionScheme := Some("semver-spec")

val bundle = taskKey[Seq[File]]("Copies the connector's jar and its drivers into the Python package")

/** The tiers of fast and slow tests, which docs/testing.md describes. `Test` contains both tiers. */
lazy val Fast = config("fast").extend(Test)
lazy val Slow = config("slow").extend(Test)

val fetchMermaid = taskKey[File]("Writes the script for the diagrams of the documentation site into .tools/site")

/** Builds the jars and class paths for the Python tests and the servers. tests/run.py waits for the file `prepared`. */
val prepare = taskKey[Unit]("Builds the jars and the class paths of the servers for the tests")

val compilerOptions = Seq(
  "-release",
  "11",
  "-encoding",
  "UTF-8",
  "-Xfatal-warnings",
  "-deprecation",
  "-feature",
  "-unchecked",
  "-Ywarn-unused",
  "-Ywarn-dead-code",
  "-Xlint:adapted-args,infer-any,missing-interpolator,private-shadow,type-parameter-shadow,inaccessible,nullary-unit," +
    "stars-align,constant"
)

/**
 * Returns options that hide two warnings of Scala 2.13: the sources import `scala.collection.JavaConverters`, because
 * Scala 2.12 does not have its successor; and Scala 2.13.8 does not see that a class of one file can extend both of two
 * sealed traits of this file.
 */
def optionsOf(scalaBinary: String): Seq[String] =
  if (scalaBinary == "2.12") Nil
  else Seq("-Wconf:cat=deprecation&origin=scala.collection.JavaConverters:s,msg=fruitless type test:s")

val common = Seq(
  crossScalaVersions := Seq(scala212, scala213),
  Compile / scalacOptions ++= compilerOptions ++ optionsOf(scalaBinaryVersion.value),
  Test / scalacOptions ++= compilerOptions ++ optionsOf(scalaBinaryVersion.value),
  // Scaladoc of Scala 2.13 warns of links to classes of other modules, which Scaladoc of Scala 2.12 accepts.
  Compile / doc / scalacOptions ++= Seq("-no-link-warnings").filter(_ => scalaBinaryVersion.value == "2.13"),
  Compile / console / scalacOptions := Nil,
  libraryDependencies ++= Dependencies.testing,
  Test / fork := true,
  Test / parallelExecution := false,
  Test / baseDirectory := (ThisBuild / baseDirectory).value,
  Test / javaOptions ++= Seq("-Xmx3g", "-Dfile.encoding=UTF-8", s"-Diceberglite.project=${thisProject.value.id}") ++
    Tiers.temporary ++ Dependencies.openModules,
  // Property tests use the same seed in every run, unless ICEBERG_LITE_SEED sets another one.
  Test / testOptions +=
    Tests.Argument(TestFrameworks.ScalaTest, "-oDF", "-S", sys.env.getOrElse("ICEBERG_LITE_SEED", "20240229"))
)

val tested = common ++ Tiers.settings(Fast, Tiers.fast) ++ Tiers.settings(Slow, Tiers.slow)

// One more test JVM than processors runs at a time, because tests also wait: for servers, files and other processes.
// Each has a heap of up to 3 GB, so there are at most three.
Global / concurrentRestrictions := {
  val tasks = java.lang.Runtime.getRuntime.availableProcessors + 1
  Seq(Tags.limitAll(tasks), Tags.limit(Tags.ForkedTestGroup, math.min(3, tasks)), Tags.exclusiveGroup(Tags.Clean))
}

lazy val root = (project in file("."))
  .aggregate(spec, core, toyTree, rootTree, spark, artifact, sparkSuites)
  .configs(Fast, Slow, Dependencies.site)
  .settings(
    publish / skip := true,
    name := "iceberg-lite",
    libraryDependencies += Dependencies.mermaid % Dependencies.site,
    fetchMermaid / aggregate := false,
    fetchMermaid := {
      val folder = (ThisBuild / baseDirectory).value / ".tools" / "site"
      val jar = update.value.select(configurationFilter(Dependencies.site.name)).head
      IO.withTemporaryDirectory { unpacked =>
        val script = IO.unzip(jar, unpacked, (_: String).endsWith("/dist/mermaid.min.js")).head
        IO.copyFile(script, folder / script.getName)
        folder / script.getName
      }
    },
    prepare / aggregate := false,
    prepare := {
      fetchMermaid.value
      (servers / fetch).value
      (spark / bundle).value
      IO.touch((ThisBuild / baseDirectory).value / "build" / "prepared")
    }
  )

/** The rules of the Iceberg specification, without Spark, Hadoop or I/O. */
lazy val spec = (project in file("connector/spec"))
  .configs(Fast, Slow)
  .settings(tested, name := "iceberg-lite-spec", publish / skip := true, libraryDependencies ++= Dependencies.jackson)

/** File formats, tables, commits and catalogs, without Spark. */
lazy val core = (project in file("connector/core"))
  .configs(Fast, Slow)
  .dependsOn(spec % "compile->compile;test->test")
  .settings(
    tested,
    name := "iceberg-lite-core",
    publish / skip := true,
    libraryDependencies ++= Dependencies.formats ++ Dependencies.hive ++ Dependencies.s3 ++ Dependencies.drivers ++
      Dependencies.tokenProviders ++ Dependencies.azure,
    libraryDependencies += Dependencies.peer % Test
  )

/** Settings of a project that runs the suites for metadata trees of `core` with its own registry of tree formats. */
val ofTreeFormat = tested ++ Seq(
  publish / skip := true,
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-l", "iceberglite.manifests"),
  // The classes of core come after this project's own classes, which replace the registry of tree formats.
  Test / unmanagedClasspath ++= (core / Test / fullClasspath).value
)

/** Runs the suites for metadata trees with a tree format that exists only in tests. */
lazy val toyTree =
  (project in file("connector/toytree")).configs(Fast, Slow).settings(ofTreeFormat, name := "iceberg-lite-toy-tree")

/** Runs the suites for metadata trees with the trees of version 4. */
lazy val rootTree =
  (project in file("connector/roottree")).configs(Fast, Slow).settings(ofTreeFormat, name := "iceberg-lite-root-tree")

/** The names of the suites of `spark` that use servers. They share a JVM, so that each server is started only once. */
val suitesWithServers =
  Set(
    "DyingMigrationSuite",
    "HiveSessionCatalogSuite",
    "SecretsSuite",
    "ServerPurgeSuite",
    "SqlScenarioSuite",
    "VendedCredentialsSuite"
  )

/** The DataSource V2 connector and its assembly. */
lazy val spark = (project in file("connector/spark"))
  .configs(Fast, Slow)
  .dependsOn(core % "compile->compile;test->test")
  .settings(
    tested,
    name := "iceberg-lite-spark",
    publish / skip := true,
    Compile / resourceGenerators += Def.task {
      Seq("LICENSE", "NOTICE").map { name =>
        val copy = (Compile / resourceManaged).value / "META-INF" / name
        IO.copyFile((ThisBuild / baseDirectory).value / name, copy)
        copy
      }
    }.taskValue,
    // The classes of the other sources are on the class path.
    Compile / doc / sources := PublicApi.of(
      (spec / Compile / sources).value ++ (core / Compile / sources).value ++ (Compile / sources).value
    ),
    Compile / doc / dependencyClasspath := (Compile / fullClasspath).value,
    Compile / doc / apiMappings ++= PublicApi.sparkReference((Compile / dependencyClasspath).value.files),
    Compile / doc / scalacOptions ++= Seq("-doc-title", "iceberg-lite", "-doc-version", version.value),
    libraryDependencies ++= Dependencies.sparkSql +: (Dependencies.s3 ++ Dependencies.drivers),
    libraryDependencies += Dependencies.jts,
    libraryDependencies ++= Seq(Dependencies.sparkHive).filter(_ => scalaBinaryVersion.value == "2.12"),
    libraryDependencies += Dependencies.peer % Test,
    Test / javaOptions ++= Tiers.quickStart,
    // In a single JVM, these tests would end long after those of all other projects.
    Tiers.split(Fast, suitesWithServers, parts = 2, apart = !Tiers.runsBoth),
    Tiers.split(Slow, suitesWithServers, parts = 3, apart = true),
    assembly / assemblyJarName := s"iceberg-lite-spark-3.5_${scalaBinaryVersion.value}-${version.value}.jar",
    // Spark provides Scala and all libraries of the connector except JTS, which is shaded, as later ones must be.
    assembly / assemblyOption := (assembly / assemblyOption).value.withIncludeScala(false),
    assembly / assemblyShadeRules := Dependencies.shaded,
    assembly / assemblyMergeStrategy := {
      case path if path.startsWith("META-INF/services/") => MergeStrategy.concat
      case "META-INF/LICENSE" | "META-INF/NOTICE" => MergeStrategy.singleOrError
      case path if path.startsWith("META-INF/") => MergeStrategy.discard
      case _ => MergeStrategy.deduplicate
    },
    assembly / test := {},
    bundle := {
      val jars = (ThisBuild / baseDirectory).value / "pyspark_iceberg" / "jars"
      val drivers = (Test / update).value.select(module = moduleFilter("org.xerial", "sqlite-jdbc"))
      val bundled = assembly.value +: drivers
      IO.delete((jars * "*.jar").get)
      bundled.foreach(jar => IO.copyFile(jar, jars / jar.getName))
      // Publishes the module to build/maven, where the tests read its POM and load its jar.
      (LocalProject("artifact") / publish).value
      bundled.map(jar => jars / jar.getName)
    }
  )

/** The published module: the assembly, without dependencies, because Spark provides all libraries. */
lazy val artifact = (project in file("connector/artifact"))
  .settings(
    name := "iceberg-lite-spark-3.5",
    crossScalaVersions := Seq(scala212, scala213),
    // Without this setting, sbt would replace the dot in the project's name.
    moduleName := name.value,
    description := "Spark 3.5 connector for Iceberg tables",
    Publishing.settings,
    autoScalaLibrary := false,
    Compile / packageBin := (spark / assembly).value,
    Compile / packageSrc / mappings := (spec / Compile / packageSrc / mappings).value ++
      (core / Compile / packageSrc / mappings).value ++ (spark / Compile / packageSrc / mappings).value,
    Compile / packageDoc / mappings := (spark / Compile / packageDoc / mappings).value ++
      Publishing.licenceFiles((ThisBuild / baseDirectory).value)
  )

/**
 * Runs Spark's own suites on iceberg-lite tables. They are in a separate project, because their jars contain settings
 * and services that would change other tests.
 */
lazy val sparkSuites = (project in file("connector/sparksuites"))
  .configs(Fast, Slow)
  .settings(
    tested,
    name := "iceberg-lite-spark-suites",
    publish / skip := true,
    libraryDependencies ++= Dependencies.sparkSuites,
    Test / javaOptions ++= Tiers.quickStart,
    Test / unmanagedClasspath ++= (spark / Test / fullClasspath).value
  )

/**
 * Tests the jar of each Scala version on Spark's artefacts of the same version. Only `make cross` runs this project.
 */
lazy val cross = (project in file("connector/cross")).settings(
  common,
  name := "iceberg-lite-cross",
  publish / skip := true,
  libraryDependencies ++= Seq(Dependencies.sparkSql, Dependencies.sqlite % Test),
  Test / unmanagedJars += Attributed.blank((spark / assembly).value),
  Test / unmanagedSources ++= Seq("SqlScenario", "ScenarioRunner").map { name =>
    (spark / Test / scalaSource).value / "iceberglite" / "spark" / s"$name.scala"
  },
  Test / javaOptions ++= Tiers.quickStart
)

/**
 * Benchmarks that compare iceberg-lite with Apache Iceberg. They are not part of the published module. Benchmarks that
 * need classes of the tests are in the test sources.
 */
lazy val bench = (project in file("connector/bench"))
  .dependsOn(core, spark % "compile->compile;test->test")
  .enablePlugins(JmhPlugin)
  .settings(
    common,
    name := "iceberg-lite-bench",
    publish / skip := true,
    libraryDependencies ++= Dependencies.atRunTime(Dependencies.formats) :+ Dependencies.sparkSql :+ Dependencies.peer
  )

val fetch =
  taskKey[Seq[File]](
    "Writes the class paths of the servers of the tests, of their clients and of peers below .tools/servers"
  )

/**
 * The servers that the tests and `make stack` start, and the peers of `make bench-peers`. No code depends on them, and
 * they are not published.
 */
lazy val servers = (project in file("tests/servers"))
  .configs(Dependencies.serverConfigurations: _*)
  .settings(
    name := "iceberg-lite-servers",
    publish / skip := true,
    autoScalaLibrary := false,
    libraryDependencies ++= Dependencies.serverArtifacts,
    fetch := {
      val folder = (ThisBuild / baseDirectory).value / ".tools" / "servers"
      val report = update.value
      Dependencies.serverConfigurations.map { server =>
        val jars = report.select(configurationFilter(server.name)).distinct
        val written = folder / s"${server.name}.classpath"
        IO.write(written, jars.map(_.getAbsolutePath).mkString("", "\n", "\n"))
        written
      }
    }
  )
