CREATE TABLE "observed_hours" (
	"at" bigint PRIMARY KEY NOT NULL,
	"traffic" text NOT NULL,
	"totals" text NOT NULL
);
