import java.util.Properties

import sbt._
import sbt.Keys._

/** The settings of the published module. The metadata of its POM comes from project/release.properties. */
object Publishing {

  private def settingsOf(base: File): String => Option[String] = {
    val properties = new Properties
    IO.load(properties, base / "project" / "release.properties")
    key => Option(properties.getProperty(key)).map(_.trim).filter(_.nonEmpty)
  }

  val settings: Seq[Setting[_]] = Seq(
    licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
    homepage := setting("homepage").value.map(url),
    scmInfo := setting("source").value.map(address => ScmInfo(url(address), s"scm:git:$address")),
    developers := (for {
      name <- setting("developer.name").value
      email <- setting("developer.email").value
      page <- setting("homepage").value
    } yield Developer(email, name, email, url(page))).toList,
    // A Maven repository below the project, from which the tests and `make release` take the module.
    publishTo := Some(MavenCache("build", (ThisBuild / baseDirectory).value / "build" / "maven")),
    publishConfiguration := publishConfiguration.value.withOverwrite(true),
    // Scaladoc takes minutes, so only `make release` sets this variable.
    Compile / packageDoc / publishArtifact := sys.env.contains("ICEBERG_LITE_SCALADOC"),
    // Without this setting, the tests would take the value of `Compile`, and an empty jar would be published.
    Test / packageDoc / publishArtifact := false,
    publishMavenStyle := true,
    pomIncludeRepository := (_ => false)
  )

  /** The files that each published jar contains in META-INF. */
  def licenceFiles(base: File): Seq[(File, String)] =
    Seq("LICENSE", "NOTICE").map(name => base / name -> s"META-INF/$name")

  private def setting(key: String): Def.Initialize[Option[String]] =
    Def.setting(settingsOf((ThisBuild / baseDirectory).value)(key))
}
