ThisBuild / organization := "io.github.iceberg-lite"
ThisBuild / version := IO.read((ThisBuild / baseDirectory).value / "VERSION").trim
ThisBuild / scalaVersion := "2.12.18"
ThisBuild / versionScheme := Some("semver-spec")

val bundle = taskKey[Seq[File]]("Puts the connector's jar and its drivers where the Python package expects them")

/** The tier of slow tests, see docs/testing.md. `Test` is both tiers. */
lazy val Fast = config("fast").extend(Test)
lazy val Slow = config("slow").extend(Test)

/** Compiles what the Python tests and the servers need, and then says so to tests/run.py, which waits for it. */
val prepare = taskKey[Unit]("Puts the jars and the class paths of the servers where the tests look for them")

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
  "-Xlint:adapted-args,infer-any,missing-interpolator,private-shadow,type-parameter-shadow,inaccessible,nullary-unit,stars-align,constant"
)

val common = Seq(
  Compile / scalacOptions ++= compilerOptions,
  Test / scalacOptions ++= compilerOptions,
  Compile / console / scalacOptions := Nil,
  libraryDependencies ++= Dependencies.testing,
  Test / fork := true,
  Test / parallelExecution := false,
  Test / baseDirectory := (ThisBuild / baseDirectory).value,
  Test / javaOptions ++= Seq("-Xmx3g", "-Dfile.encoding=UTF-8", s"-Diceberglite.project=${thisProject.value.id}") ++
    Tiers.temporary ++ Dependencies.openModules,
  // Property tests too draw the same values in every run, unless the environment gives another seed.
  Test / testOptions +=
    Tests.Argument(TestFrameworks.ScalaTest, "-oDF", "-S", sys.env.getOrElse("ICEBERG_LITE_SEED", "20240229"))
)

val tested = common ++ Tiers.settings(Fast, Tiers.fast) ++ Tiers.settings(Slow, Tiers.slow)

// The JVMs of core's tests wait for servers and for each other most of the time: those of Spark's run beside them.
Global / concurrentRestrictions := Seq(
  Tags.limitAll(java.lang.Runtime.getRuntime.availableProcessors),
  Tags.limit(Tags.ForkedTestGroup, 2),
  Tags.exclusiveGroup(Tags.Clean)
)

lazy val root = (project in file("."))
  .aggregate(spec, core, toyTree, spark, artifact, sparkSuites)
  .configs(Fast, Slow)
  .settings(
    publish / skip := true,
    name := "iceberg-lite",
    prepare / aggregate := false,
    prepare := {
      (servers / fetch).value
      (spark / bundle).value
      IO.touch((ThisBuild / baseDirectory).value / "build" / "prepared")
    }
  )

/** The rules of the Iceberg specification: no Spark, no Hadoop, no I/O. */
lazy val spec = (project in file("connector/spec"))
  .configs(Fast, Slow)
  .settings(tested, name := "iceberg-lite-spec", publish / skip := true, libraryDependencies ++= Dependencies.jackson)

/** Every byte format, tables, commits and catalogs: no Spark. */
lazy val core = (project in file("connector/core"))
  .configs(Fast, Slow)
  .dependsOn(spec % "compile->compile;test->test")
  .settings(
    tested,
    name := "iceberg-lite-core",
    publish / skip := true,
    libraryDependencies ++= Dependencies.formats ++ Dependencies.hive ++ Dependencies.s3 ++ Dependencies.drivers,
    libraryDependencies += Dependencies.peer % Test
  )

/** Suites that every form of metadata tree must pass, with a form that exists in tests alone. */
lazy val toyTree = (project in file("connector/toytree"))
  .configs(Fast, Slow)
  .settings(
    tested,
    name := "iceberg-lite-toy-tree",
    publish / skip := true,
    Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-l", "iceberglite.manifests"),
    // After this project's own classes, which take the place of the registry of trees.
    Test / unmanagedClasspath ++= (core / Test / fullClasspath).value
  )

/** Suites of Spark's that use servers, by name: they share a JVM, so that each server is started once. */
val withServers = Set("HiveSessionCatalogSuite", "SecretsSuite", "SqlScenarioSuite", "VendedCredentialsSuite")

/** The DataSource V2 connector and the assembly that users take. */
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
    libraryDependencies ++= Dependencies.sparkSql ++ Dependencies.s3 ++ Dependencies.drivers,
    libraryDependencies += Dependencies.peer % Test,
    Test / javaOptions ++= Tiers.quickStart,
    Tiers.split(Fast, withServers),
    Tiers.split(Slow, withServers),
    assembly / assemblyJarName := s"iceberg-lite-spark-3.5_2.12-${version.value}.jar",
    // Spark brings Scala and every library we use; what a later dependency adds must not meet Spark's own copy.
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
      val wanted = assembly.value +: drivers
      IO.delete((jars * "*.jar").get)
      wanted.foreach(jar => IO.copyFile(jar, jars / jar.getName))
      // The name and the dependencies of the published module, which a test reads.
      (LocalProject("artifact") / makePom).value
      wanted.map(jar => jars / jar.getName)
    }
  )

/** What is published: the assembly, without dependencies, as Spark brings all libraries that it needs. */
lazy val artifact = (project in file("connector/artifact"))
  .settings(
    name := "iceberg-lite-spark-3.5",
    // By default the name of the module is that of the project with its dot replaced.
    moduleName := name.value,
    description := "Spark 3.5 connector for Iceberg tables",
    licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
    autoScalaLibrary := false,
    Compile / packageBin := (spark / assembly).value,
    Compile / packageSrc / mappings := (spec / Compile / packageSrc / mappings).value ++
      (core / Compile / packageSrc / mappings).value ++ (spark / Compile / packageSrc / mappings).value,
    Compile / packageDoc / publishArtifact := false
  )

/** Spark's own suites on tables of ours: apart, because their jars bring settings and services of their own. */
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

/** Measurements beside Apache Iceberg, by JMH; no part of the build that users run. */
lazy val bench = (project in file("connector/bench"))
  .dependsOn(core, spark)
  .enablePlugins(JmhPlugin)
  .settings(
    common,
    name := "iceberg-lite-bench",
    publish / skip := true,
    libraryDependencies ++= Dependencies.atRunTime(Dependencies.formats) ++ Dependencies.sparkSql :+ Dependencies.peer
  )

val fetch =
  taskKey[Seq[File]]("Writes the class path of each server of the tests, and of its clients, below .tools/servers")

/** The servers that the tests and `make stack` start: nothing of them is compiled against, or in what users run. */
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
